package kstreams.runbooks.facts;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;

/** Reads fields and calls getters of objects whose classes are not part of an API. It never writes. */
final class Peek {
    private Peek() {}

    /** The value of a field, which the class or one above it declares; NotRead that names class and field. */
    static Object field(Object of, String name) throws NotRead {
        Field found = find(of, name);
        if (found == null) {
            throw new NotRead("class " + nameOf(of) + " has no field " + name
                    + " in this release of Kafka Streams; declare the fact manually");
        }
        return get(found, of);
    }

    /** The value of a field, null if no class declares it. */
    static Object fieldOrNull(Object of, String name) throws NotRead {
        Field found = find(of, name);
        return found == null ? null : get(found, of);
    }

    /** Whether a class of the object declares the field. */
    static boolean has(Object of, String name) {
        return find(of, name) != null;
    }

    /** A field that is a number of milliseconds or records. */
    static long number(Object of, String name) throws NotRead {
        return ((Number) field(of, name)).longValue();
    }

    /** A field that is a flag. */
    static boolean flag(Object of, String name) throws NotRead {
        return (Boolean) field(of, name);
    }

    /** A field that is a map. */
    static Map<?, ?> map(Object of, String name) throws NotRead {
        return (Map<?, ?>) field(of, name);
    }

    /** The result of a method without parameters; NotRead that names class and method, or what it threw. */
    static Object call(Object of, String name) throws NotRead {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Method found = type.getDeclaredMethod(name);
                found.setAccessible(true);
                return found.invoke(of);
            } catch (NoSuchMethodException above) {
                continue; // a class above may declare it
            } catch (ReflectiveOperationException | RuntimeException refused) {
                throw new NotRead("method " + name + " of class " + nameOf(of) + " failed with "
                        + (refused.getCause() == null ? refused : refused.getCause()).getClass().getName()
                        + "; declare the fact manually");
            }
        }
        throw new NotRead("class " + nameOf(of) + " has no method " + name
                + " in this release of Kafka Streams; declare the fact manually");
    }

    /** Whether a class of the object declares the method without parameters. */
    static boolean hasMethod(Object of, String name) {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                type.getDeclaredMethod(name);
                return true;
            } catch (NoSuchMethodException above) {
                continue; // a class above may declare it
            }
        }
        return false;
    }

    /** The name of an object's class, "null" without an object. */
    static String nameOf(Object of) {
        return of == null ? "null" : of.getClass().getName();
    }

    private static Field find(Object of, String name) {
        for (Class<?> type = of == null ? null : of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                return type.getDeclaredField(name);
            } catch (NoSuchFieldException above) {
                continue; // a class above may declare it
            }
        }
        return null;
    }

    private static Object get(Field found, Object of) throws NotRead {
        try {
            found.setAccessible(true);
            return found.get(of);
        } catch (IllegalAccessException | RuntimeException refused) {
            throw new NotRead("field " + found.getName() + " of class " + nameOf(of) + " is not accessible ("
                    + refused.getClass().getName() + "); declare the fact manually");
        }
    }
}
