import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import kstreams.runbooks.links.asm.ClassReader;
import kstreams.runbooks.links.asm.ClassVisitor;
import kstreams.runbooks.links.asm.ClassWriter;
import kstreams.runbooks.links.asm.FieldVisitor;
import kstreams.runbooks.links.asm.Handle;
import kstreams.runbooks.links.asm.Label;
import kstreams.runbooks.links.asm.MethodVisitor;
import kstreams.runbooks.links.asm.Opcodes;
import kstreams.runbooks.links.asm.Type;

/**
 * What the JVM itself does with each reference into Kafka (or into -Dpackage=NAME/) of the classes of a class path.
 *
 * A class with one method a reference is written into the package of the class that has it, in the same loader, and
 * each method resolves its reference. Arguments: the jars and directories whose classes are looked at, "--", the others.
 * Each LinkageError is a line: class, owner, member, error. Classes of a supertype that does not link have a line with
 * the error of their loading; unimplemented abstract methods are called on an object.
 */
public class LinkTruth {
    private static final String KAFKA = System.getProperty("package", "org/apache/kafka/");
    private static final int HANDLE_OF_CLASS = 0;
    private static final int NEW = -1;
    private static final Map<String, Boolean> BELOW = new HashMap<>();

    record Reference(int tag, String owner, String name, String type, boolean isInterface) {}

    /** Defines every class itself: a probe is in the same package at run time. */
    static final class Loader extends ClassLoader {
        final URLClassLoader files;

        Loader(List<URL> urls) {
            super(ClassLoader.getPlatformClassLoader());
            files = new URLClassLoader(urls.toArray(URL[]::new), null);
        }

        byte[] bytes(String name) throws IOException {
            try (InputStream stream = files.getResourceAsStream(name.replace('.', '/') + ".class")) {
                return stream == null ? null : stream.readAllBytes();
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try {
                byte[] file = bytes(name);
                if (file == null) {
                    throw new ClassNotFoundException(name);
                }
                return define(name, file);
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }

        Class<?> define(String name, byte[] file) {
            return defineClass(name, file, 0, file.length);
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<String> given = List.of(arguments);
        int end = given.indexOf("--");
        List<URL> urls = new ArrayList<>();
        for (String path : given) {
            if (!path.equals("--")) {
                urls.add(Path.of(path).toUri().toURL());
            }
        }
        Loader loader = new Loader(urls);
        int references = 0;
        for (String jar : given.subList(0, end)) {
            for (String name : names(jar)) {
                references += look(loader, name);
            }
        }
        System.err.println(references + " references");
        System.exit(0);
    }

    private static Set<String> names(String jar) throws IOException {
        Set<String> names = new TreeSet<>();
        if (Path.of(jar).toFile().isDirectory()) {
            try (Stream<Path> files = java.nio.file.Files.walk(Path.of(jar))) {
                files.map(file -> Path.of(jar).relativize(file).toString()).forEach(names::add);
            }
        } else {
            try (JarFile file = new JarFile(jar)) {
                file.stream().forEach(entry -> names.add(entry.getName()));
            }
        }
        names.removeIf(name -> !name.endsWith(".class") || name.startsWith("META-INF/")
                || name.endsWith("module-info.class") || name.startsWith(KAFKA));
        Set<String> classes = new TreeSet<>();
        names.forEach(name -> classes.add(name.substring(0, name.length() - 6)));
        return classes;
    }

    private static int look(Loader loader, String name) throws Exception {
        byte[] file = loader.bytes(name);
        Set<Reference> references = new LinkedHashSet<>();
        Set<String> above = new LinkedHashSet<>();
        new ClassReader(file).accept(new Collector(loader, references, above), ClassReader.SKIP_DEBUG);
        if (references.isEmpty() && above.stream().noneMatch(type -> isKafka(loader, type))) {
            return 0;
        }
        loads(loader, name, above);
        List<Reference> all = new ArrayList<>(references);
        if (!all.isEmpty()) {
            String probe = name.substring(0, name.lastIndexOf('/') + 1) + "Probe$" + Math.abs(name.hashCode());
            Class<?> type = loader.define(probe.replace('/', '.'), probe(probe, all));
            for (int at = 0; at < all.size(); at++) {
                resolve(loader, name, type.getDeclaredMethod("p" + at), all.get(at));
            }
        }
        return all.size();
    }

    /** The supertypes of the class, its final methods, and what it does not implement. */
    private static void loads(Loader loader, String name, Set<String> above) throws Exception {
        Class<?> type;
        try {
            type = Class.forName(name.replace('/', '.'), false, loader);
        } catch (LinkageError refused) {
            if (above.stream().anyMatch(one -> one.startsWith(KAFKA))) {
                System.out.println(name + "\t" + name + "\t\t" + refused.getClass().getSimpleName() + "\tloading");
            }
            return;
        }
        if (Modifier.isAbstract(type.getModifiers()) || above.stream().noneMatch(one -> isKafka(loader, one))) {
            return;
        }
        try {
            for (Method method : type.getMethods()) {
                String owner = method.getDeclaringClass().getName().replace('.', '/');
                if (Modifier.isAbstract(method.getModifiers()) && owner.startsWith(KAFKA)) {
                    called(name, type, method, owner);
                }
            }
        } catch (LinkageError unlisted) {
            return; // a signature: its type is a reference of its own
        }
    }

    private static void called(String name, Class<?> type, Method method, String owner) throws Exception {
        Object[] values = Stream.of(method.getParameterTypes())
                .map(of -> of.isPrimitive() ? java.lang.reflect.Array.get(java.lang.reflect.Array.newInstance(of, 1), 0)
                        : null)
                .toArray();
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object made = ((sun.misc.Unsafe) field.get(null)).allocateInstance(type);
        try {
            method.setAccessible(true);
            method.invoke(made, values);
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof AbstractMethodError) {
                System.out.println(name + "\t" + owner + "\t" + method.getName()
                        + Type.getMethodDescriptor(method) + "\tAbstractMethodError\tcalled");
            }
        }
    }

    private static byte[] probe(String probe, List<Reference> references) {
        ClassWriter writer = new ClassWriter(0);
        writer.visit(Opcodes.V11, Opcodes.ACC_PUBLIC | Opcodes.ACC_SYNTHETIC, probe, null, "java/lang/Object", null);
        for (int at = 0; at < references.size(); at++) {
            Reference reference = references.get(at);
            MethodVisitor code = writer.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC, "p" + at, "()V", null,
                    null);
            code.visitCode();
            resolving(code, reference);
            code.visitInsn(Opcodes.RETURN);
            code.visitMaxs(3, 0);
            code.visitEnd();
        }
        return writer.toByteArray();
    }

    /** The instruction itself, on no object; a handle of what would run a method, or would write a static field. */
    private static void resolving(MethodVisitor code, Reference reference) {
        switch (reference.tag) {
            case HANDLE_OF_CLASS -> code.visitLdcInsn(Type.getObjectType(reference.owner));
            case NEW -> code.visitTypeInsn(Opcodes.NEW, reference.owner);
            case Opcodes.H_GETFIELD, Opcodes.H_GETSTATIC -> {
                boolean isStatic = reference.tag == Opcodes.H_GETSTATIC;
                if (!isStatic) {
                    code.visitInsn(Opcodes.ACONST_NULL);
                }
                code.visitFieldInsn(isStatic ? Opcodes.GETSTATIC : Opcodes.GETFIELD, reference.owner, reference.name,
                        reference.type);
                if (Type.getType(reference.type).getSize() == 2) {
                    code.visitInsn(Opcodes.POP2);
                    return;
                }
            }
            default -> code.visitLdcInsn(new Handle(reference.tag, reference.owner, reference.name, reference.type,
                    reference.isInterface));
        }
        code.visitInsn(Opcodes.POP);
    }

    private static void resolve(Loader loader, String from, Method probe, Reference reference) throws Exception {
        try {
            probe.setAccessible(true);
            probe.invoke(null);
        } catch (InvocationTargetException failed) {
            Throwable error = failed.getCause();
            if (error instanceof ExceptionInInitializerError
                    || (reference.tag == NEW && !(error instanceof InstantiationError))) {
                return; // what a class does when it is made is not linking, and its absence has a reference of its own
            }
            boolean isKafka = reference.owner.startsWith(KAFKA);
            boolean isAccess = error instanceof IllegalAccessError;
            if (isAccess && (!isKafka || isAllowed(loader, from, reference))) {
                return; // the class itself has the right that its neighbour lacks
            }
            String message = String.valueOf(error.getMessage());
            boolean isOfOwner = error instanceof NoClassDefFoundError && message.equals(reference.owner);
            boolean isOther = error instanceof NoClassDefFoundError && !message.startsWith(KAFKA);
            if (error instanceof LinkageError && !isOther) {
                String member = reference.tag <= HANDLE_OF_CLASS || isOfOwner ? "" : reference.name
                        + (reference.type.startsWith("(") ? "" : " ") + reference.type;
                System.out.println(from + "\t" + reference.owner + "\t" + member + "\t"
                        + error.getClass().getSimpleName() + "\tresolved");
            }
        }
    }

    /** Whether the class itself may use a member that is protected, or private in its nest. */
    private static boolean isAllowed(Loader loader, String from, Reference reference) throws Exception {
        if (reference.tag <= HANDLE_OF_CLASS) {
            return false;
        }
        try {
            Class<?> source = Class.forName(from.replace('/', '.'), false, loader);
            Class<?> owner = Class.forName(reference.owner.replace('/', '.'), false, loader);
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(source, MethodHandles.lookup());
            if (reference.tag <= Opcodes.H_PUTSTATIC) {
                Class<?> type = MethodType.fromMethodDescriptorString("()" + reference.type, loader).returnType();
                switch (reference.tag) {
                    case Opcodes.H_GETFIELD -> lookup.findGetter(owner, reference.name, type);
                    case Opcodes.H_PUTFIELD -> lookup.findSetter(owner, reference.name, type);
                    case Opcodes.H_GETSTATIC -> lookup.findStaticGetter(owner, reference.name, type);
                    default -> lookup.findStaticSetter(owner, reference.name, type);
                }
                return true;
            }
            MethodType type = MethodType.fromMethodDescriptorString(reference.type, loader);
            if (reference.name.equals("<init>")) {
                return Modifier.isProtected(owner.getDeclaredConstructor(type.parameterArray()).getModifiers())
                        && owner.isAssignableFrom(source);
            } else if (reference.tag == Opcodes.H_INVOKESTATIC) {
                lookup.findStatic(owner, reference.name, type);
            } else {
                lookup.findVirtual(owner, reference.name, type);
            }
            return true;
        } catch (ReflectiveOperationException | LinkageError refused) {
            return false;
        }
    }

    /** Whether a type is of Kafka, or has a supertype that is. */
    private static boolean isKafka(Loader loader, String type) {
        if (type == null || type.startsWith(KAFKA)) {
            return type != null;
        }
        Boolean known = BELOW.get(type);
        if (known == null) {
            known = reads(loader, type);
            BELOW.put(type, known);
        }
        return known;
    }

    private static boolean reads(Loader loader, String type) {
        try {
            byte[] file = type.startsWith("[") ? null : loader.bytes(type);
            if (file == null) {
                return false;
            }
            ClassReader reader = new ClassReader(file);
            return isKafka(loader, reader.getSuperName())
                    || Stream.of(reader.getInterfaces()).anyMatch(face -> isKafka(loader, face));
        } catch (IOException unreadable) {
            return false;
        }
    }

    /** References to Kafka's types and their members, and to members of types below Kafka's. */
    private static final class Collector extends ClassVisitor {
        private final Loader loader;
        private final Set<Reference> references;
        private final Set<String> above;

        Collector(Loader loader, Set<Reference> references, Set<String> above) {
            super(Opcodes.ASM9);
            this.loader = loader;
            this.references = references;
            this.above = above;
        }

        private void type(Type type) {
            if (type.getSort() == Type.METHOD) {
                type(type.getReturnType());
                for (Type parameter : type.getArgumentTypes()) {
                    type(parameter);
                }
            } else if (type.getSort() == Type.ARRAY) {
                type(type.getElementType());
            } else if (type.getSort() == Type.OBJECT && type.getInternalName().startsWith(KAFKA)) {
                references.add(new Reference(HANDLE_OF_CLASS, type.getInternalName(), "", "", false));
            }
        }

        private void member(int tag, String owner, String name, String type, boolean isInterface) {
            if (owner.startsWith("[")) {
                type(Type.getType(owner));
            } else if (isKafka(loader, owner)) {
                references.add(new Reference(tag, owner, name, type, isInterface));
            }
        }

        @Override
        public void visit(int version, int access, String own, String generic, String superName, String[] faces) {
            above.add(superName);
            above.addAll(List.of(faces));
        }

        @Override
        public FieldVisitor visitField(int access, String name, String type, String generic, Object value) {
            type(Type.getType(type));
            return null;
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String types, String generic, String[] thrown) {
            type(Type.getMethodType(types));
            for (String exception : thrown == null ? new String[0] : thrown) {
                type(Type.getObjectType(exception));
            }
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
                    if (type != null) {
                        type(Type.getObjectType(type));
                    }
                }

                @Override
                public void visitTypeInsn(int opcode, String type) {
                    type(Type.getObjectType(type));
                    if (opcode == Opcodes.NEW && type.startsWith(KAFKA)) {
                        references.add(new Reference(NEW, type, "", "", false));
                    }
                }

                @Override
                public void visitMultiANewArrayInsn(String type, int dimensions) {
                    type(Type.getType(type));
                }

                @Override
                public void visitFieldInsn(int opcode, String owner, String name, String type) {
                    member(opcode == Opcodes.GETFIELD ? Opcodes.H_GETFIELD
                            : opcode == Opcodes.PUTFIELD ? Opcodes.H_PUTFIELD
                            : opcode == Opcodes.GETSTATIC ? Opcodes.H_GETSTATIC : Opcodes.H_PUTSTATIC,
                            owner, name, type, false);
                }

                @Override
                public void visitMethodInsn(int opcode, String owner, String name, String type, boolean isFace) {
                    int tag = opcode == Opcodes.INVOKESTATIC ? Opcodes.H_INVOKESTATIC
                            : name.equals("<init>") ? Opcodes.H_NEWINVOKESPECIAL
                            : isFace ? Opcodes.H_INVOKEINTERFACE : Opcodes.H_INVOKEVIRTUAL;
                    member(tag, owner, name, type, isFace);
                }

                @Override
                public void visitLdcInsn(Object value) {
                    constant(value);
                }

                @Override
                public void visitInvokeDynamicInsn(String name, String type, Handle by, Object... values) {
                    type(Type.getMethodType(type));
                    for (Object value : values) {
                        constant(value);
                    }
                }

                private void constant(Object value) {
                    if (value instanceof Type type) {
                        type(type);
                    } else if (value instanceof Handle handle) {
                        type(Type.getType(handle.getDesc()));
                        member(handle.getTag() == Opcodes.H_INVOKESPECIAL ? Opcodes.H_INVOKEVIRTUAL : handle.getTag(),
                                handle.getOwner(), handle.getName(), handle.getDesc(), handle.isInterface());
                    }
                }
            };
        }
    }
}
