package kstreams.runbooks.code;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.RecordComponentVisitor;
import org.objectweb.asm.TypePath;

/** A class of the program: its methods, its fields, and the shape that a library can read of it. */
final class ClassCode extends ClassVisitor {
    /** A field: what it may hold. */
    static final class Field {
        final String name;
        final int access;
        final String desc;
        final String signature;

        Field(String name, int access, String desc, String signature) {
            this.name = name;
            this.access = access;
            this.desc = desc;
            this.signature = signature;
        }

        boolean is(int flag) {
            return (access & flag) != 0;
        }
    }

    /** Java 28, as the library that reads class files knows it. */
    private static final int NEWEST = 72;
    String name;
    String above;
    String signature;
    List<String> interfaces = Collections.emptyList();
    /** The release of class files, such as 61 for Java 17. */
    int version;
    final Map<String, MethodCode> methods = new TreeMap<>();
    final Map<String, Field> fields = new LinkedHashMap<>();
    /** Fields, their types, annotations, what is above it, in the order of the source. */
    final List<Object> shape = new ArrayList<>();
    final List<Ref> shapeRefs = new ArrayList<>();

    Initializer initializer;

    private ClassCode() {
        super(Opcodes.ASM9);
    }

    /** The class in a file; NotProvable if the file is not one, or is newer than this reader. */
    static ClassCode of(String name, byte[] file) throws NotProvable {
        try {
            ClassCode code = new ClassCode();
            new ClassReader(file).accept(code, ClassReader.SKIP_FRAMES);
            code.methods.values().forEach(MethodCode::finish);
            code.initializer = new Initializer(code.methods.get("<clinit>()V"));
            return code;
        } catch (RuntimeException unreadable) {
            throw unreadable(name, file);
        }
    }

    /** A file that is not a class, or is newer than this reader. */
    static NotProvable unreadable(String name, byte[] file) {
        int major = file.length > 7 ? ((file[6] & 0xff) << 8) + (file[7] & 0xff) : 0;
        return new NotProvable("class " + Names.shown(name) + " is not readable (version " + major
                + " of class files; expected 45 to " + NEWEST + "); print the facts with a newer topology-facts.jar");
    }

    /** The names of the parameters of each method, if the compiler has kept them. */
    List<String> parameters() {
        List<String> found = new ArrayList<>();
        methods.forEach((key, method) -> {
            if (!method.parameters.isEmpty()) {
                found.add("parameters " + name + "." + key + " " + method.parameters);
            }
        });
        return found;
    }

    boolean isEnum() {
        return "java/lang/Enum".equals(above);
    }

    @Override
    public void visit(int major, int access, String own, String generic, String superName, String[] faces) {
        version = major & 0xffff;
        name = own;
        above = superName;
        signature = generic;
        interfaces = faces == null ? Collections.emptyList() : Arrays.asList(faces);
        shape.add("class " + (access & ~Opcodes.ACC_SUPER) + " " + superName + " " + interfaces + " " + generic);
    }

    @Override
    public AnnotationVisitor visitAnnotation(String type, boolean visible) {
        return visible ? AnnotationCode.of(type, "", shape, shapeRefs) : null;
    }

    @Override
    public AnnotationVisitor visitTypeAnnotation(int place, TypePath path, String type, boolean visible) {
        return visible ? AnnotationCode.of(type, " at " + place + " " + path, shape, shapeRefs) : null;
    }

    @Override
    public void visitPermittedSubclass(String subclass) {
        shape.add("permits " + subclass);
    }

    @Override
    public void visitInnerClass(String inner, String outer, String simple, int access) {
        if (inner.equals(name)) {
            shape.add("inner " + access + " " + (outer != null));
        }
    }

    @Override
    public RecordComponentVisitor visitRecordComponent(String component, String desc, String generic) {
        shape.add("component " + component + " " + desc + " " + generic);
        return new RecordComponentVisitor(Opcodes.ASM9) {
            @Override
            public AnnotationVisitor visitAnnotation(String type, boolean visible) {
                return visible ? AnnotationCode.of(type, " of " + component, shape, shapeRefs) : null;
            }

            @Override
            public AnnotationVisitor visitTypeAnnotation(int place, TypePath path, String type, boolean visible) {
                return visible
                        ? AnnotationCode.of(type, " of " + component + " at " + path, shape, shapeRefs) : null;
            }
        };
    }

    @Override
    public FieldVisitor visitField(int access, String field, String desc, String generic, Object value) {
        fields.put(field, new Field(field, access, desc, generic));
        if ((access & Opcodes.ACC_SYNTHETIC) == 0) {
            shape.add("field " + access + " " + field + " " + desc + " " + generic
                    + (value == null ? "" : " " + MethodCode.constant(value)));
        }
        return new FieldVisitor(Opcodes.ASM9) {
            @Override
            public AnnotationVisitor visitAnnotation(String type, boolean visible) {
                return visible ? AnnotationCode.of(type, " of " + field, shape, shapeRefs) : null;
            }

            @Override
            public AnnotationVisitor visitTypeAnnotation(int place, TypePath path, String type, boolean visible) {
                return visible ? AnnotationCode.of(type, " of " + field + " at " + path, shape, shapeRefs) : null;
            }
        };
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String desc, String generic, String[] thrown) {
        MethodCode code = new MethodCode(name, access, method, desc, generic);
        methods.put(method + desc, code);
        return code;
    }
}
