package kstreams.runbooks.code;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The values that objects keep, as text: numbers, flags, enums and classes as they are, text by a digest of 16 bits,
 * because it may be a secret, other objects by the same rules. An object that is there twice is written once, and has a
 * number: code may see that two are one. What is not readable is not provable.
 */
final class State {
    private static final int MOST_OBJECTS = 20_000;
    private static final int DEPTH = 200;
    // One JVM reads one program.
    private static final Map<Class<?>, List<Field>> FIELDS = new HashMap<>();
    // What a library has already looked up: it is made again of the rest.
    private static final Pattern CACHE = Pattern.compile(
            ".*jackson/databind/(.*/)?(LRUMap|\\w*Cache|RootNameLookup)|.*jackson/core/sym/.*");
    private static final Pattern LOOKED_UP = Pattern.compile(".*jackson\\.(core|databind)\\.(.*\\._hash(Code)?"
            + "|(ObjectMapper|ObjectReader)\\.(_rootDeserializers?|_jsonNodeType)"
            + "|ObjectWriter\\$Prefetch\\.(value|type)Serializer)");
    private final Closure closure;
    private final Border border;
    private final ClassLoader loader;
    private final Jdk jdk = new Jdk(this);
    final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
    /** Of equal texts and numbers: which objects they are. */
    private final Map<String, IdentityHashMap<Object, Integer>> equals = new HashMap<>();
    /** Objects of the program: their fields count if the code reads them. */
    private final List<Object> own = new ArrayList<>();
    private final IdentityHashMap<Object, Integer> constants = new IdentityHashMap<>();
    private final Set<String> written = new HashSet<>();
    private int depth;
    /** How many objects of libraries are around the one that is read. */
    private int libraries;

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
            Field field = type(owner).getDeclaredField(name);
            field.setAccessible(true);
            closure.write("static " + owner + "." + name + " = " + value(field.get(null)));
        } catch (ReflectiveOperationException | LinkageError | RuntimeException refused) {
            throw new NotProvable("static field " + Names.shown(owner) + "." + name + " is not readable ("
                    + refused.getClass().getName() + ")");
        }
    }

    /** Writes the constants of an enum in their order. */
    void readConstants(String name) throws NotProvable {
        try {
            for (Object constant : type(name).getEnumConstants()) {
                closure.write("constant " + value(constant));
            }
        } catch (ReflectiveOperationException | LinkageError | RuntimeException refused) {
            throw new NotProvable("the constants of enum " + Names.shown(name) + " are not readable ("
                    + refused.getClass().getName() + ")");
        }
    }

    private Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(name.replace('/', '.'), true, loader);
    }

    /** Writes each field of each object of the program that the code reads, or that a library may read. */
    void readFields(Set<String> read, Set<String> wholes) throws NotProvable {
        for (int at = 0; at < own.size(); at++) {
            Object object = own.get(at);
            Class<?> type = object.getClass();
            for (; type != null && !Names.isJdk(type.getName().replace('.', '/')); type = type.getSuperclass()) {
                String name = type.getName().replace('.', '/');
                for (Field field : fieldsOf(type)) {
                    boolean counts = !border.owns(name) || wholes.contains(name) || read.contains(name + "." + field.getName());
                    if (counts && written.add(at + " " + name + "." + field.getName())) {
                        closure.write("object " + at + " " + name + "." + field.getName() + " = " + value(get(field, object)));
                    }
                }
            }
            if (type != null && written.add(at + " above")) {
                closure.write("object " + at + " above " + jdk.above(object, type));
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
            return constant((Enum<?>) object);
        }
        if (object instanceof Class) {
            String name = ((Class<?>) object).getName().replace('.', '/');
            if (Proxy.isProxyClass((Class<?>) object) || name.contains("$$Lambda")) {
                throw new NotProvable("class " + name + " is made while the program runs");
            }
            closure.keeps(name);
            return "class " + name;
        }
        if (object instanceof String) {
            boolean isShared = new String((String) object).intern() == object;
            return which(object, text((String) object) + (isShared ? "" : " new"));
        }
        if (Jdk.isWritten(type)) {
            return which(object, Jdk.written(object));
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

    /** The text of some text. */
    String text(String of) throws NotProvable {
        return "text " + Closure.sha(of, 2);
    }

    /** A text, with the number of its object if another one has the same. */
    private String which(Object object, String text) {
        IdentityHashMap<Object, Integer> same = equals.computeIfAbsent(text, any -> new IdentityHashMap<>());
        Integer number = same.get(object);
        if (number == null) {
            number = same.size();
            same.put(object, number);
        }
        return number == 0 ? text : text + " no. " + number;
    }

    private String constant(Enum<?> constant) throws NotProvable {
        String name = constant.getDeclaringClass().getName().replace('.', '/');
        if (border.owns(name) && !constants.containsKey(constant)) {
            constants.put(constant, own.size());
            own.add(constant);
            closure.mention(name);
            closure.include(constant.getClass().getName().replace('.', '/'));
        }
        return name + "." + constant.name() + (border.owns(name) ? " object " + constants.get(constant) : "");
    }

    /** A member of a class that a library looks at. */
    void member(Member member) throws NotProvable {
        closure.literal(member.getDeclaringClass().getName().replace('.', '/'));
    }

    private String inner(Object object, Class<?> type) throws NotProvable {
        String name = type.getName().replace('.', '/');
        if (libraries == 0 && !name.contains("$$Lambda") && !border.isKafka(name)) {
            closure.holds(object);
        }
        if (type.isArray()) {
            StringBuilder all = new StringBuilder("array " + name + " (");
            for (int at = 0; at < Array.getLength(object); at++) {
                all.append(value(Array.get(object, at))).append(' ');
            }
            return all + ")";
        }
        if (border.isLogger(name)) {
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
            return "object " + (own.size() - 1) + " " + name;
        }
        if (Names.isJdk(name)) {
            return jdk.of(object);
        }
        if (border.isLibrary(name)) {
            closure.library(name);
        } else if (!border.isKafka(name)) {
            throw new NotProvable("class " + Names.shown(name) + " is not on the class path");
        }
        if (CACHE.matcher(name).matches()) {
            return "cache";
        }
        libraries++;
        try {
            return name + fields(object, type);
        } finally {
            libraries--;
        }
    }

    private String lambda(Object object, Class<?> type, String host) throws NotProvable {
        StringBuilder all = new StringBuilder("lambda ");
        for (Class<?> face : type.getInterfaces()) {
            all.append(face.getName()).append(' ');
        }
        List<Ref> methods = Opened.methodsOf(type);
        if (border.isKafka(host)) {
            Set<String> names = new TreeSet<>();
            methods.forEach(ref -> names.add(ref.name.replaceFirst("\\$\\d+$", "")));
            return all + host + names + fields(object, type);
        }
        if (border.isLibrary(host)) {
            closure.library(host);
        }
        for (Ref ref : methods) {
            closure.implementation(ref);
        }
        for (String cast : Opened.typesOf(type)) {
            closure.mention(cast);
            all.append(cast).append(' ');
        }
        return all + fields(object, type);
    }

    private String fields(Object object, Class<?> lowest) throws NotProvable {
        Map<String, String> found = new TreeMap<>();
        Class<?> type = lowest;
        boolean isLambda = lowest.getName().contains("$$Lambda");
        for (; type != null && (isLambda || !Names.isJdk(type.getName().replace('.', '/'))); type = type.getSuperclass()) {
            if (type == Object.class) {
                break;
            }
            for (Field field : fieldsOf(type)) {
                String place = type.getName() + "." + field.getName();
                if (!LOOKED_UP.matcher(place).matches()) {
                    found.put(place, value(get(field, object)));
                }
            }
        }
        if (isLambda) {
            return found.values().toString();
        }
        return found + (type == null ? "" : jdk.above(object, type));
    }

    /** The fields of the objects of a class, without those above it, by name. */
    static List<Field> fieldsOf(Class<?> type) {
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

    static Object get(Field field, Object object) throws NotProvable {
        try {
            field.setAccessible(true);
            return field.get(object);
        } catch (IllegalAccessException | RuntimeException refused) {
            throw new NotProvable("field " + field.getName() + " of class " + object.getClass().getName()
                    + " is not readable (" + refused.getClass().getName() + ")");
        }
    }
}
