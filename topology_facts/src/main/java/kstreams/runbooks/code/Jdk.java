package kstreams.runbooks.code;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.charset.Charset;
import java.text.DateFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/**
 * What objects of the JDK keep, of the classes on these lists alone: for each of them it is known what decides its
 * behaviour, and where it is kept. An object of any other class of the JDK is not provable.
 */
final class Jdk {
    // Immutable: what the JDK writes of one is all of it.
    private static final Pattern WRITTEN = Pattern.compile(
            "java\\.lang\\.(Integer|Long|Short|Byte|Character|Boolean|Float|Double)"
                    + "|java\\.math\\.(BigDecimal|BigInteger|MathContext)|java\\.net\\.URI"
                    + "|java\\.util\\.(UUID|Currency|OptionalInt|OptionalLong|OptionalDouble)"
                    + "|java\\.time\\.(Duration|Period|Instant|Local(Date|Time|DateTime)|Offset(Time|DateTime)"
                    + "|ZonedDateTime|Year|YearMonth|MonthDay|ZoneOffset|ZoneRegion|Clock\\$(FixedClock|SystemClock))"
                    + "|java\\.time\\.chrono\\.(Iso|Japanese|Minguo|ThaiBuddhist)Chronology"
                    + "|java\\.time\\.temporal\\.WeekFields");
    // Each field counts, whatever it holds.
    private static final Pattern BY_FIELDS = Pattern.compile(
            "java\\.util\\.(Collections\\$[\\w$]+|Arrays\\$ArrayList|ImmutableCollections\\$(List12|ListN|SubList)"
                    + "|HashSet|LinkedHashSet|TreeSet|concurrent\\.(CopyOnWriteArraySet|ConcurrentSkipListSet)|Optional"
                    + "|Comparators\\$NullComparator|StringJoiner|AbstractMap\\$Simple(Immutable)?Entry|KeyValueHolder"
                    + "|Base64\\$(Encoder|Decoder))|java\\.lang\\.String\\$CaseInsensitiveComparator"
                    + "|java\\.time\\.format\\.[\\w$]+|java\\.time\\.temporal\\.TemporalQueries\\$\\d+");
    // Views of the same object, and texts of the JDK itself: they are made when they are first asked for.
    private static final Set<String> MADE_LATER = new HashSet<>(Arrays.asList(
            "keySet", "values", "entrySet", "zeroLengthElementArray", "numberPrinterParser"));
    private static final Set<String> IN_ORDER = new HashSet<>(Arrays.asList(
            "java.util.LinkedList", "java.util.ArrayDeque", "java.util.Vector", "java.util.Stack",
            "java.util.PriorityQueue", "java.util.concurrent.CopyOnWriteArrayList",
            "java.util.concurrent.ConcurrentLinkedQueue", "java.util.concurrent.ConcurrentLinkedDeque"));
    // Of another order in each run of the JVM.
    private static final Pattern UNORDERED = Pattern.compile(
            "java\\.util\\.(ImmutableCollections\\$(Set12|SetN|Map1|MapN)|IdentityHashMap)");
    private static final Pattern ATOMIC = Pattern.compile(
            "java\\.util\\.concurrent\\.atomic\\.(Atomic(Integer|Long|Boolean|IntegerArray|LongArray)|LongAdder)");
    // Classes above others: these keep nothing.
    private static final Set<String> EMPTY = new HashSet<>(Arrays.asList(
            "java.lang.Object", "java.lang.Number", "java.lang.Enum", "java.lang.Record", "java.util.AbstractMap",
            "java.util.AbstractCollection", "java.util.AbstractList", "java.util.AbstractSet",
            "java.util.AbstractQueue", "java.util.AbstractSequentialList", "java.util.Dictionary"));
    // A hash of these is of their value, so it is the same in each run.
    private static final Pattern HASHED = Pattern.compile("java\\.lang\\.String|java\\.util\\.Locale|" + WRITTEN.pattern());
    private static final Map<Class<?>, Boolean> IS_WRITTEN = new HashMap<>();
    private final State state;

    Jdk(State state) {
        this.state = state;
    }

    /** Whether an object is immutable and its text is all of it. */
    static boolean isWritten(Class<?> type) {
        return IS_WRITTEN.computeIfAbsent(type, of -> WRITTEN.matcher(of.getName()).matches());
    }

    /** The text of such an object, and whether it is the one that the JDK keeps for its value. */
    static String written(Object object) {
        String type = object.getClass().getName();
        if (object instanceof Double) {
            return type + " " + Long.toHexString(Double.doubleToRawLongBits((Double) object));
        }
        if (object instanceof Float) {
            return type + " " + Integer.toHexString(Float.floatToRawIntBits((Float) object));
        }
        return type + " " + MethodCode.quoted(object.toString()) + (isShared(object) ? "" : " new");
    }

    private static boolean isShared(Object object) {
        return object instanceof Boolean ? object == Boolean.valueOf((Boolean) object)
                : object instanceof Integer ? object == Integer.valueOf((Integer) object)
                : object instanceof Long ? object == Long.valueOf((Long) object)
                : object instanceof Short ? object == Short.valueOf((Short) object)
                : object instanceof Byte ? object == Byte.valueOf((Byte) object)
                : object instanceof Character ? object == Character.valueOf((Character) object) : true;
    }

    /** All that an object of the JDK keeps; NotProvable for a class that is on no list. */
    String of(Object object) throws NotProvable {
        Class<?> type = object.getClass();
        String name = type.getName();
        String known = single(object, name);
        if (known == null) {
            known = collection(object, name);
        }
        if (known == null && BY_FIELDS.matcher(name).matches()) {
            known = fields(object, type);
        }
        if (known == null) {
            throw new NotProvable("the object keeps one of class " + name + ", whose content is not readable");
        }
        return name + " " + known;
    }

    private String single(Object object, String name) throws NotProvable {
        switch (name) {
            case "java.lang.Object":
                return "";
            case "java.lang.StringBuilder":
                return ((StringBuilder) object).capacity() + " " + state.text(object.toString());
            case "java.lang.StringBuffer":
                return ((StringBuffer) object).capacity() + " " + state.text(object.toString());
            case "java.util.Locale":
                return MethodCode.quoted(object + " " + ((Locale) object).toLanguageTag());
            case "java.util.regex.Pattern":
                return ((Pattern) object).flags() + " " + state.text(((Pattern) object).pattern());
            case "java.util.Date":
                return String.valueOf(((Date) object).getTime());
            case "java.util.BitSet":
                return ((BitSet) object).size() + " " + object;
            case "java.util.concurrent.locks.ReentrantLock":
                return ((ReentrantLock) object).isFair() + " " + ((ReentrantLock) object).isLocked();
            case "java.util.concurrent.atomic.AtomicReference":
                return state.value(((AtomicReference<?>) object).get());
            default:
                return other(object, name);
        }
    }

    private String other(Object object, String name) throws NotProvable {
        if (ATOMIC.matcher(name).matches()) {
            return object.toString();
        }
        if (object instanceof TimeZone) {
            String id = ((TimeZone) object).getID();
            boolean isOfJdk = name.equals("sun.util.calendar.ZoneInfo") && object.equals(TimeZone.getTimeZone(id));
            return isOfJdk ? MethodCode.quoted(id) : null;
        }
        if (object instanceof Charset) {
            return Charset.forName(((Charset) object).name()).getClass() == object.getClass()
                    ? ((Charset) object).name() : null;
        }
        if (object instanceof java.lang.reflect.Executable || object instanceof Field) {
            state.member((java.lang.reflect.Member) object);
            return MethodCode.quoted(object.toString())
                    + ((java.lang.reflect.AccessibleObject) object).isAccessible();
        }
        return object instanceof Type ? type((Type) object) : null;
    }

    private String type(Type type) throws NotProvable {
        if (type instanceof ParameterizedType) {
            ParameterizedType generic = (ParameterizedType) type;
            return state.value(generic.getRawType()) + state.value(generic.getOwnerType())
                    + state.value(generic.getActualTypeArguments());
        }
        if (type instanceof GenericArrayType) {
            return state.value(((GenericArrayType) type).getGenericComponentType());
        }
        if (type instanceof WildcardType) {
            return state.value(((WildcardType) type).getLowerBounds())
                    + state.value(((WildcardType) type).getUpperBounds());
        }
        if (type instanceof TypeVariable && ((TypeVariable<?>) type).getGenericDeclaration() instanceof Class) {
            return ((TypeVariable<?>) type).getName() + " of "
                    + state.value(((TypeVariable<?>) type).getGenericDeclaration());
        }
        return null;
    }

    /** What a class of the JDK keeps that a class of the program or of a library extends. */
    String above(Object object, Class<?> type) throws NotProvable {
        if (EMPTY.contains(type.getName())) {
            return "";
        }
        if (object instanceof DateFormat && type == DateFormat.class && ((DateFormat) object).getCalendar() == null
                && ((DateFormat) object).getNumberFormat() == null) {
            return ""; // a format of a library that keeps its own zone and locale
        }
        String known = ownOrder(object, type);
        if (known == null && (type == HashSet.class || type == java.util.LinkedHashSet.class)) {
            known = fields(object, HashSet.class);
        }
        if (known == null) {
            throw new NotProvable("class " + object.getClass().getName() + " extends " + type.getName()
                    + ", whose content is not readable");
        }
        return type.getName() + " " + known;
    }

    // Collections.

    private String collection(Object object, String name) throws NotProvable {
        if (IN_ORDER.contains(name)) {
            Object comparator = object instanceof PriorityQueue ? ((PriorityQueue<?>) object).comparator() : null;
            return state.value(comparator) + all(new ArrayList<>((Collection<?>) object));
        }
        if (UNORDERED.matcher(name).matches()) {
            return object instanceof Map ? entries(pairs(((Map<?, ?>) object)), false)
                    : all(sorted(new ArrayList<>((Collection<?>) object)));
        }
        switch (name) {
            case "java.util.concurrent.ConcurrentHashMap":
                return capacity(object, "sizeCtl") + entries(pairs((Map<?, ?>) object), true);
            case "java.util.Hashtable":
                return capacity(object, "threshold") + Float.toString((Float) field(object, java.util.Hashtable.class,
                        "loadFactor")) + entries(pairs((Map<?, ?>) object), true);
            case "java.util.Properties":
                return properties(object);
            case "java.util.concurrent.ConcurrentSkipListMap":
                return state.value(((SortedMap<?, ?>) object).comparator()) + inOrder(pairs((Map<?, ?>) object));
            case "java.util.EnumMap":
                return state.value(field(object, java.util.EnumMap.class, "keyType"))
                        + inOrder(pairs((Map<?, ?>) object));
            case "java.util.RegularEnumSet":
            case "java.util.JumboEnumSet":
                return state.value(field(object, java.util.EnumSet.class, "elementType"))
                        + all(new ArrayList<>((Collection<?>) object));
            default:
                return ownOrder(object, object.getClass());
        }
    }

    /** Read without a call: a class of the program may override each method. */
    private String ownOrder(Object object, Class<?> type) throws NotProvable {
        if (type == java.util.ArrayList.class) {
            Object[] parts = (Object[]) field(object, type, "elementData");
            return all(Arrays.asList(parts).subList(0, (Integer) field(object, type, "size")));
        }
        if (type == HashMap.class) {
            return capacity(object, "threshold") + field(object, type, "loadFactor")
                    + entries(hashed(object), true);
        }
        if (type == LinkedHashMap.class) {
            List<Object[]> found = new ArrayList<>();
            for (Object at = field(object, type, "head"); at != null; at = fieldOf(at, "after")) {
                found.add(new Object[] {fieldOf(at, "key"), fieldOf(at, "value")});
            }
            return field(object, type, "accessOrder") + inOrder(found);
        }
        if (type == java.util.TreeMap.class) {
            List<Object[]> found = new ArrayList<>();
            tree(field(object, type, "root"), found);
            return state.value(field(object, type, "comparator")) + inOrder(found);
        }
        return null;
    }

    private static List<Object[]> hashed(Object map) throws NotProvable {
        List<Object[]> found = new ArrayList<>();
        Object table = field(map, HashMap.class, "table");
        for (int at = 0; table != null && at < Array.getLength(table); at++) {
            for (Object node = Array.get(table, at); node != null; node = fieldOf(node, "next")) {
                found.add(new Object[] {fieldOf(node, "key"), fieldOf(node, "value")});
            }
        }
        return found;
    }

    private static void tree(Object node, List<Object[]> found) throws NotProvable {
        if (node != null) {
            tree(fieldOf(node, "left"), found);
            found.add(new Object[] {fieldOf(node, "key"), fieldOf(node, "value")});
            tree(fieldOf(node, "right"), found);
        }
    }

    /** The length of the table of hashes: the order of what is in it, and of what comes. */
    private static String capacity(Object map, String before) throws NotProvable {
        Object table = fieldOf(map, "table");
        return (table == null ? before + fieldOf(map, before) : "table" + Array.getLength(table)) + " ";
    }

    private String properties(Object object) throws NotProvable {
        Object defaults = field(object, java.util.Properties.class, "defaults");
        Field inner = declared(java.util.Properties.class, "map"); // from Java 9 on
        String own = inner == null ? capacity(object, "threshold") + entries(pairs((Map<?, ?>) object), true)
                : state.value(State.get(inner, object));
        return "defaults " + state.value(defaults) + " " + own;
    }

    private static List<Object[]> pairs(Map<?, ?> map) {
        List<Object[]> found = new ArrayList<>();
        map.forEach((key, value) -> found.add(new Object[] {key, value}));
        return found;
    }

    /** Entries in their order if it is the same in each run, otherwise in that of their names. */
    private String entries(List<Object[]> pairs, boolean hasOrder) throws NotProvable {
        boolean isStable = hasOrder;
        for (Object[] pair : pairs) {
            isStable &= pair[0] == null || HASHED.matcher(pair[0].getClass().getName()).matches();
        }
        if (isStable) {
            return inOrder(pairs);
        }
        Map<Object, Object[]> of = new java.util.IdentityHashMap<>();
        List<Object> keys = new ArrayList<>();
        for (Object[] pair : pairs) {
            of.put(pair[0], pair);
            keys.add(pair[0]);
        }
        List<Object[]> ordered = new ArrayList<>();
        for (Object key : sorted(keys)) {
            ordered.add(of.get(key));
        }
        return inOrder(ordered);
    }

    private static List<Object> sorted(List<Object> parts) throws NotProvable {
        parts.sort((one, other) -> nameOf(one).compareTo(nameOf(other)));
        for (int at = 1; at < parts.size(); at++) {
            if (nameOf(parts.get(at - 1)).equals(nameOf(parts.get(at)))) {
                throw new NotProvable("a collection without an order has several objects of class "
                        + parts.get(at).getClass().getName());
            }
        }
        return parts;
    }

    /** By which parts without an order are read: equal in each run, which a hash may not be. */
    private static String nameOf(Object part) {
        if (part == null) {
            return "";
        }
        Class<?> type = part.getClass();
        boolean isPlain = HASHED.matcher(type.getName()).matches() || type.getName().endsWith(".type.ClassKey");
        return part instanceof Class ? ((Class<?>) part).getName()
                : part instanceof Enum ? ((Enum<?>) part).getDeclaringClass().getName() + "." + ((Enum<?>) part).name()
                : isPlain ? type.getName() + " " + part : type.getName();
    }

    private String inOrder(List<Object[]> pairs) throws NotProvable {
        StringBuilder found = new StringBuilder("{");
        for (Object[] pair : pairs) {
            found.append(state.value(pair[0])).append("=").append(state.value(pair[1])).append(", ");
        }
        return found + "}";
    }

    private String all(Collection<?> parts) throws NotProvable {
        StringBuilder found = new StringBuilder("[");
        for (Object part : parts) {
            found.append(state.value(part)).append(", ");
        }
        return found + "]";
    }

    // Fields.

    private String fields(Object object, Class<?> lowest) throws NotProvable {
        StringBuilder found = new StringBuilder("(");
        for (Class<?> type = lowest; type != null && !EMPTY.contains(type.getName()); type = type.getSuperclass()) {
            for (Field field : State.fieldsOf(type)) {
                if (!MADE_LATER.contains(field.getName())) {
                    found.append(field.getName()).append("=").append(state.value(State.get(field, object))).append(", ");
                }
            }
        }
        return found + ")";
    }

    private static Object field(Object of, Class<?> type, String name) throws NotProvable {
        Field field = declared(type, name);
        if (field == null) {
            throw new NotProvable("class " + type.getName() + " of this JVM has no field " + name);
        }
        return State.get(field, of);
    }

    private static Object fieldOf(Object of, String name) throws NotProvable {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            Field field = declared(type, name);
            if (field != null) {
                return State.get(field, of);
            }
        }
        throw new NotProvable("class " + of.getClass().getName() + " of this JVM has no field " + name);
    }

    private static Field declared(Class<?> type, String name) {
        for (Field field : State.fieldsOf(type)) {
            if (field.getName().equals(name)) {
                return field;
            }
        }
        return null;
    }
}
