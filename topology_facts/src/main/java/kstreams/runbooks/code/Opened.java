package kstreams.runbooks.code;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The methods that the class of a lambda calls, by its constant pool: the one that implements it, and those that box its
 * values. From Java 9 on the JVM has to open two packages for that; what a dump of the class would show is the same.
 */
final class Opened {
    /** What a JVM needs on its command line. */
    static final String[] PACKAGES = {"java.lang", "jdk.internal.reflect", "java.util", "java.util.concurrent",
        "java.util.function", "java.time.format"};
    static final String NOT_OPEN = "started without --add-opens java.base/java.lang=ALL-UNNAMED and "
            + "java.base/jdk.internal.reflect=ALL-UNNAMED, so the method of a lambda is not known";

    // What writes a lambda that can be serialized: nothing of the JDK or of Kafka asks for it.
    private static final List<String> SERIALIZED = java.util.Arrays.asList(
            "java/lang/invoke/SerializedLambda", "java/io/NotSerializableException");

    private Opened() {}

    /** Whether this JVM shows constant pools. It asks, and tries nothing that prints a warning. */
    static boolean isOpen() {
        try {
            Method module = Class.class.getMethod("getModule");
            Object base = module.invoke(Object.class);
            Object own = module.invoke(Opened.class);
            Method opens = base.getClass().getMethod("isOpen", String.class, own.getClass());
            for (String name : PACKAGES) {
                if (!(Boolean) opens.invoke(base, name, own)) {
                    return false;
                }
            }
            return true;
        } catch (NoSuchMethodException eight) {
            return true;
        } catch (ReflectiveOperationException refused) {
            return false;
        }
    }

    /** The methods in the pool of a lambda's class; NotProvable if the JVM does not show them, or if it has none. */
    static List<Ref> methodsOf(Class<?> lambda) throws NotProvable {
        if (!isOpen()) {
            throw new NotProvable(NOT_OPEN);
        }
        List<Ref> found = new ArrayList<>();
        try {
            Method pool = Class.class.getDeclaredMethod("getConstantPool");
            pool.setAccessible(true);
            Object constants = pool.invoke(lambda);
            Method member = constants.getClass().getMethod("getMemberRefInfoAt", int.class);
            member.setAccessible(true);
            Method length = constants.getClass().getMethod("getSize");
            length.setAccessible(true);
            int size = (Integer) length.invoke(constants);
            for (int at = 1; at < size; at++) {
                String[] parts = member(member, constants, at);
                boolean isMethod = parts != null && parts[2].startsWith("(");
                if (isMethod && !(parts[0].equals("java/lang/Object") && parts[1].equals("<init>"))
                        && !SERIALIZED.contains(parts[0])) {
                    found.add(new Ref(Ref.Kind.VIRTUAL, parts[0], parts[1], parts[2]));
                }
            }
        } catch (ReflectiveOperationException | RuntimeException refused) {
            throw new NotProvable("this JVM does not show the constant pool of a lambda ("
                    + refused.getClass().getName() + ")");
        }
        if (found.isEmpty()) {
            throw new NotProvable("the class of a lambda calls no method");
        }
        return found;
    }

    /** The other classes in that pool: to which it casts what it gets, and what it returns. */
    static Set<String> typesOf(Class<?> lambda) throws NotProvable {
        Set<String> found = new TreeSet<>();
        try {
            Method pool = Class.class.getDeclaredMethod("getConstantPool");
            pool.setAccessible(true);
            Object constants = pool.invoke(lambda);
            Method type = constants.getClass().getMethod("getClassAt", int.class);
            type.setAccessible(true);
            Method length = constants.getClass().getMethod("getSize");
            length.setAccessible(true);
            int size = (Integer) length.invoke(constants);
            for (int at = 1; at < size; at++) {
                Class<?> known = type(type, constants, at);
                if (known != null && known != lambda) {
                    found.add(known.getName().replace('.', '/'));
                }
            }
        } catch (ReflectiveOperationException | RuntimeException refused) {
            throw new NotProvable("this JVM does not show the constant pool of a lambda ("
                    + refused.getClass().getName() + ")");
        }
        return found;
    }

    private static Class<?> type(Method type, Object constants, int at) throws ReflectiveOperationException {
        try {
            return (Class<?>) type.invoke(constants, at);
        } catch (InvocationTargetException otherKind) {
            if (otherKind.getCause() instanceof IllegalArgumentException) {
                return null; // a constant of another kind
            }
            throw otherKind;
        }
    }

    private static String[] member(Method member, Object constants, int at) throws ReflectiveOperationException {
        try {
            return (String[]) member.invoke(constants, at);
        } catch (InvocationTargetException otherKind) {
            return null; // a constant of another kind
        }
    }
}
