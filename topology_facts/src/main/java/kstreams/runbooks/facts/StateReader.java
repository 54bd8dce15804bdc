package kstreams.runbooks.facts;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * Names an object of the program by its class and the state in which two objects of it may differ: numbers, flags,
 * classes and the objects inside it. Text is left out, because it may be a secret.
 */
final class StateReader {
    private static final int DEPTH = 4;
    private final Library library;

    StateReader(Library library) {
        this.library = library;
    }

    /** com.acme.ByRegion(regions=7); a class of Kafka has its name alone. NotRead for a state of another kind. */
    String name(Object of) throws NotRead {
        return name(of, 0);
    }

    private String name(Object of, int depth) throws NotRead {
        boolean isOfKafka = !library.known(of).isEmpty() && !Library.isLambda(of);
        if (isOfKafka || of instanceof Enum) {
            return Library.lastingName(of);
        }
        if (depth == DEPTH) {
            throw new NotRead("class " + Library.lastingName(of) + " is inside more than " + DEPTH
                    + " others; declare the fact manually");
        }
        Map<String, String> parts = new TreeMap<>();
        for (Class<?> type = of.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                // The object around an inner class is not its state.
                if (!Modifier.isStatic(field.getModifiers()) && !field.getName().startsWith("this$")) {
                    String part = part(of, field, depth);
                    if (part != null) {
                        parts.put(field.getName(), part);
                    }
                }
            }
        }
        StringJoiner state = new StringJoiner(", ", "(", ")").setEmptyValue("");
        parts.forEach((field, value) -> state.add(field + "=" + value));
        return Library.lastingName(of) + state;
    }

    /** One field; null for what is left out: text, null, and a flag that is off. */
    private String part(Object of, Field declared, int depth) throws NotRead {
        String field = declared.getName();
        Object value = Peek.field(of, field);
        boolean isScalar = declared.getType().isPrimitive() || value instanceof Number || value instanceof Boolean;
        if (isScalar && !Modifier.isFinal(declared.getModifiers())) {
            throw new NotRead("class " + Library.lastingName(of) + " may change its field " + field
                    + " while it runs; make the field final, or declare the fact manually");
        }
        if (value == null || value instanceof CharSequence || Boolean.FALSE.equals(value)) {
            return null;
        }
        if (value instanceof Class) {
            return ((Class<?>) value).getName();
        }
        String type = value.getClass().getName();
        boolean isNumber = value instanceof Number && type.startsWith("java.lang.");
        if (isNumber || value instanceof Boolean || type.startsWith("java.time.")) {
            return value.toString();
        }
        if (type.startsWith("java.") || value.getClass().isArray()) {
            throw new NotRead("class " + Library.lastingName(of) + " has the field " + field + " of class " + type
                    + ", whose content is not readable; declare the fact manually");
        }
        return name(value, depth + 1);
    }
}
