package kstreams.runbooks.links;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** What the linker looks at in a class: flags, supertypes, and the flags of each method and field that it declares. */
final class Shape {
    String name;
    int access;
    String superName;
    String[] interfaces;
    /** The class whose private members its nest shares: itself without another. */
    String nest;
    /** The subclasses that a sealed class permits; null for any. */
    Set<String> permitted;
    /** By name and descriptor. */
    final Map<String, Integer> methods = new HashMap<>();
    final Map<String, Integer> fields = new HashMap<>();

    /** Of a class file without its code. */
    static Shape of(byte[] file) {
        Shape shape = new Shape();
        new ClassReader(file).accept(shape.reader(), ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
        return shape;
    }

    boolean is(int flag) {
        return (access & flag) != 0;
    }

    boolean isInterface() {
        return is(Opcodes.ACC_INTERFACE);
    }

    /** A class of which the JVM makes objects. */
    boolean isConcrete() {
        return !is(Opcodes.ACC_ABSTRACT) && !isInterface();
    }

    String inPackage() {
        return packageOf(name);
    }

    static String packageOf(String name) {
        return name.substring(0, Math.max(name.lastIndexOf('/'), 0));
    }

    private ClassVisitor reader() {
        return new ClassVisitor(Opcodes.ASM9) {
            @Override
            public void visit(int version, int flags, String own, String generic, String above, String[] faces) {
                name = own;
                access = flags;
                superName = above;
                interfaces = faces == null ? new String[0] : faces;
                nest = own;
            }

            @Override
            public void visitNestHost(String host) {
                nest = host;
            }

            @Override
            public void visitPermittedSubclass(String subclass) {
                permitted = permitted == null ? new HashSet<>() : permitted;
                permitted.add(subclass);
            }

            @Override
            public FieldVisitor visitField(int flags, String of, String type, String generic, Object value) {
                fields.put(of + ' ' + type, flags);
                return null;
            }

            @Override
            public MethodVisitor visitMethod(int flags, String of, String type, String generic, String[] thrown) {
                methods.put(of + type, flags);
                return null;
            }
        };
    }
}
