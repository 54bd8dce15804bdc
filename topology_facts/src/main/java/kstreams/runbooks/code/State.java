package kstreams.runbooks.code;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/**
 * The values that objects keep, as text: numbers, flags, enums and classes as they are, text by a digest of 16 bits,
 * because it may be a secret, other objects by the same rules. What is not readable is not provable.
 */
final class State {
    private static final int MOST_OBJECTS = 20_000;
    private static final int DEPTH = 200;
    // One JVM reads one program.
    private static final Map<Class<?>, List<Field>> FIELDS = new HashMap<>();
    private static final Map<Class<?>, Boolean> IS_WRITTEN = new HashMap<>();
    // What the JDK writes of each of these is all of it.
    private static final Pattern WRITTEN = Pattern.compile(
            "java\\.(time\\..*|math\\..*|util\\.(UUID|Locale|Currency|regex\\.Pattern|OptionalInt|OptionalLong|BitSet)"
                    + "|util\\.concurrent\\.atomic\\.(AtomicInteger|AtomicLong|AtomicBoolean|LongAdder)"
                    + "|lang\\.(Integer|Long|Short|Byte|Character|Boolean|Float|Double))"
                    + "|sun\\.nio\\.cs\\..*|java\\.nio\\.charset\\..*");
    // What a library has already looked up: it is made again of the rest.
    private static final Pattern CACHE = Pattern.compile(".*jackson/databind/(.*/)?(LRUMap|\\w*Cache|RootNameLookup)|.*jackson/core/sym/.*");
    private static final Pattern JACKSON = Pattern.compile(".*jackson\\.(core|databind)\\..*");
    private static final Pattern LOOKED_UP = Pattern.compile("_hash|_hashCode|_rootDeserializers?|_prefetch");
    private static final Pattern LOCK = Pattern.compile("java\\.util\\.concurrent\\.locks\\..*|java\\.lang\\.Object");
    private final Closure closure;
    private final Border border;
    private final ClassLoader loader;
    private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
    /** Objects of the program: their fields count if the code reads them. */
    private final List<Object> own = new ArrayList<>();
    private final Set<String> written = new HashSet<>();
    private int depth;

    State(Closure closure, Border border, ClassLoader loader) {
        this.closure = closure;
        this.border = border;
        this.loader = loader;
    }

    /** Writes a static final field once. */
    void readStatic(String owner, String name) throws NotProvable {
        if (!written.add("static " + owner + "." + name)) {
            return;
        }
        try {
            Field field = Class.forName(owner.replace('/', '.'), true, loader).getDeclaredField(name);
            field.setAccessible(true);
            closure.write("static " + owner + "." + name + " = " + value(field.get(null)));
        } catch (ReflectiveOperationException | LinkageError | RuntimeException refused) {
            throw new NotProvable("static field " + Names.shown(owner) + "." + name + " is not readable ("
                    + refused.getClass().getName() + ")");
        }
    }

    /** Writes each field of each object of the program that the code reads, or that a library may read. */
    void readFields(Set<String> read, Set<String> wholes) throws NotProvable {
        for (int at = 0; at < own.size(); at++) {
            Object object = own.get(at);
            for (Class<?> type = object.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
                String name = type.getName().replace('.', '/');
                for (Field field : sorted(type)) {
                    boolean counts = !border.owns(name) || wholes.contains(name) || read.contains(name + "." + field.getName());
                    if (counts && written.add(at + " " + name + "." + field.getName())) {
                        closure.write("object " + at + " " + name + "." + field.getName() + " = " + value(get(field, object)));
                    }
                }
            }
        }
    }

    /** An object of which this code may see any part. */
    String value(Object object) throws NotProvable {
        if (object == null) {
            return "null";
        }
        Class<?> type = object.getClass();
        if (object instanceof Enum) {
            String name = ((Enum<?>) object).getDeclaringClass().getName().replace('.', '/');
            closure.mention(name);
            closure.include(type.getName().replace('.', '/'));
            return name + "." + ((Enum<?>) object).name();
        }
        if (object instanceof Class) {
            String name = ((Class<?>) object).getName().replace('.', '/');
            if (Proxy.isProxyClass((Class<?>) object) || name.contains("$$Lambda")) {
                throw new NotProvable("class " + name + " is made while the program runs");
            }
            closure.keeps(name);
            return "class " + name;
        }
        if (object instanceof CharSequence && type.getName().startsWith("java.lang.")) {
            return "text " + Closure.sha(object.toString(), 2);
        }
        if (IS_WRITTEN.computeIfAbsent(type, of -> WRITTEN.matcher(of.getName()).matches())) {
            return type.getName() + " " + object;
        }
        Integer known = numbers.get(object);
        if (known != null) {
            return "#" + known;
        }
        numbers.put(object, numbers.size());
        if (numbers.size() > MOST_OBJECTS || depth > DEPTH) {
            throw new NotProvable("the object has more than " + MOST_OBJECTS + " others, or they are nested more than "
                    + DEPTH + " deep");
        }
        depth++;
        try {
            return inner(object, type);
        } finally {
            depth--;
        }
    }

    private String inner(Object object, Class<?> type) throws NotProvable {
        String name = type.getName().replace('.', '/');
        if (type.isArray()) {
            StringBuilder all = new StringBuilder("array " + name + " (");
            for (int at = 0; at < Array.getLength(object); at++) {
                all.append(value(Array.get(object, at))).append(' ');
            }
            return all + ")";
        }
        if (Names.isLogger(name)) {
            return "logger";
        }
        int lambda = name.indexOf("$$Lambda");
        if (lambda >= 0) {
            return lambda(object, type, name.substring(0, lambda));
        }
        if (Proxy.isProxyClass(type)) {
            throw new NotProvable("class " + type.getName() + " is a proxy");
        }
        if (border.owns(name)) {
            own.add(object);
            closure.include(name);
            return "object " + (own.size() - 1) + " " + name + contents(object);
        }
        if (Names.isJdk(name)) {
            return jdk(object, type, name);
        }
        if (CACHE.matcher(name).matches()) {
            return "cache";
        }
        if (border.isLibrary(name)) {
            closure.library(name);
        } else if (!border.isKafka(name)) {
            throw new NotProvable("class " + Names.shown(name) + " is not on the class path");
        }
        boolean isCollection = object instanceof Map || object instanceof Collection;
        return name + (isCollection ? contents(object) : fields(object, type));
    }

    private String lambda(Object object, Class<?> type, String host) throws NotProvable {
        StringBuilder all = new StringBuilder("lambda ");
        for (Class<?> face : type.getInterfaces()) {
            all.append(face.getName()).append(' ');
        }
        if (border.isKafka(host)) {
            return all + host + fields(object, type);
        }
        if (border.isLibrary(host)) {
            closure.library(host);
        }
        for (Ref ref : Opened.methodsOf(type)) {
            closure.implementation(ref);
        }
        return all + fields(object, type);
    }

    private String jdk(Object object, Class<?> type, String name) throws NotProvable {
        if (LOCK.matcher(type.getName()).matches()) {
            return "lock";
        }
        if (object instanceof java.util.TimeZone) {
            return "zone " + ((java.util.TimeZone) object).getID();
        }
        if (object instanceof java.lang.reflect.Executable || object instanceof Field) {
            closure.literal(((java.lang.reflect.Member) object).getDeclaringClass().getName().replace('.', '/'));
            return "member " + object;
        }
        if (object instanceof Optional) {
            return "optional " + value(((Optional<?>) object).orElse(null));
        }
        if (object instanceof AtomicReference) {
            return "reference " + value(((AtomicReference<?>) object).get());
        }
        if (object instanceof Map || object instanceof Collection) {
            return name + contents(object);
        }
        throw new NotProvable("the object keeps one of class " + type.getName() + ", whose content is not readable");
    }

    /** What a collection has, also one of the program. Without an order of its own, sorted by what it has. */
    private String contents(Object object) throws NotProvable {
        boolean isOrdered = object instanceof List || object instanceof SortedMap || object instanceof SortedSet
                || object instanceof java.util.LinkedHashMap || object instanceof java.util.LinkedHashSet;
        List<String> found = new ArrayList<>();
        if (object instanceof Map) {
            List<Map.Entry<?, ?>> entries = new ArrayList<>(((Map<?, ?>) object).entrySet());
            if (!isOrdered) {
                entries.sort((one, other) -> nameOf(one.getKey()).compareTo(nameOf(other.getKey())));
            }
            for (Map.Entry<?, ?> entry : entries) {
                found.add(value(entry.getKey()) + "=" + value(entry.getValue()));
            }
        } else if (object instanceof Collection) {
            List<Object> parts = new ArrayList<>((Collection<?>) object);
            if (!isOrdered) {
                parts.sort((one, other) -> nameOf(one).compareTo(nameOf(other)));
            }
            for (Object part : parts) {
                found.add(value(part));
            }
        } else {
            return "";
        }
        if (!isOrdered) {
            Collections.sort(found);
        }
        return " " + found;
    }

    /** By which parts without an order are read: equal in each run, which a hash may not be. */
    private static String nameOf(Object part) {
        boolean isPlain = part instanceof String || part instanceof Number || part instanceof Enum;
        return part == null ? "" : part instanceof Class ? ((Class<?>) part).getName()
                : isPlain ? part.toString() : part.getClass().getName();
    }

    private String fields(Object object, Class<?> lowest) throws NotProvable {
        Map<String, String> found = new TreeMap<>();
        for (Class<?> type = lowest; type != null && type != Object.class; type = type.getSuperclass()) {
            if (type.getName().startsWith("java.text.")) {
                break; // a class of a library that keeps its own pattern, zone and locale
            }
            if (Names.isJdk(type.getName().replace('.', '/'))) {
                throw new NotProvable("class " + lowest.getName() + " extends " + type.getName()
                        + ", whose content is not readable");
            }
            boolean isJackson = JACKSON.matcher(type.getName()).matches();
            for (Field field : sorted(type)) {
                if (isJackson && LOOKED_UP.matcher(field.getName()).matches()) {
                    continue;
                }
                found.put(type.getName() + "." + field.getName(), value(get(field, object)));
            }
        }
        return lowest.getName().contains("$$Lambda") ? found.values().toString() : found.toString();
    }

    private static List<Field> sorted(Class<?> type) {
        List<Field> known = FIELDS.get(type);
        if (known != null) {
            return known;
        }
        List<Field> fields = new ArrayList<>(Arrays.asList(type.getDeclaredFields()));
        fields.removeIf(field -> Modifier.isStatic(field.getModifiers()));
        fields.sort((one, other) -> one.getName().compareTo(other.getName()));
        FIELDS.put(type, fields);
        return fields;
    }

    private static Object get(Field field, Object object) throws NotProvable {
        try {
            field.setAccessible(true);
            return field.get(object);
        } catch (IllegalAccessException | RuntimeException refused) {
            throw new NotProvable("field " + field.getName() + " of class " + object.getClass().getName()
                    + " is not readable (" + refused.getClass().getName() + ")");
        }
    }
}
