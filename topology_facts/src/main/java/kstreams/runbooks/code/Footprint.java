package kstreams.runbooks.code;

import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What the code behind one fact reads and changes of objects that it may share with the code behind another one. A digest
 * proves nothing of what other code does to such an object.
 */
final class Footprint {
    private static final Pattern CHANGES = Pattern.compile(
            "(put|add|remove|set|compute|replace|poll|offer|increment|decrement|getAnd|accumulate|update|delete|compareAnd"
                    + "|weakCompare|drain|retain|lazySet).*|clear|merge|push|pop|sort|append|insert|reset|flip|and|or|xor"
                    + "|andNot|reverse");
    private static final Pattern OF_COLLECTIONS = Pattern.compile(
            "sort|addAll|shuffle|reverse|swap|fill|rotate|copy|replaceAll");
    private static final Pattern OF_ARRAYS = Pattern.compile(
            "java/util/Arrays\\.(fill|sort|setAll|parallel.*)|java/lang/System\\.arraycopy");
    // Of an object of a library, by how such methods are named: every other one may change it.
    private static final Pattern READS = Pattern.compile(
            "(read(er)?|writer?|get|is|has|can|to|value|tree|convert|create|copy|find|contains|size|equals|hash|serialize"
                    + "|deserialize|encode|decode|parse|format|compare|apply|test|for|construct|validate|with|map|as|field"
                    + "|element|iterator|path|text|node|type|name|version|describe|builder|build)([A-Z].*|s|)|<init>|at");
    /** Of the library: it calls them before the first record. */
    private static final Set<String> BEFORE_RECORDS = new HashSet<>(java.util.Arrays.asList("<init>", "<clinit>", "configure"));
    private static final String[] STORED = {
        "[I", "[J", "[F", "[D", "[Ljava.lang.Object;", "[B", "[C", "[S",
    };
    private static final int FIRST_STORE = 79;
    final Map<MethodCode, Integer> reached;
    private final Set<String> read;
    private final Set<String> written = new HashSet<>();
    private final Set<Class<?>> changed = new HashSet<>();
    private boolean hasFlags;
    private final Set<String> libraries = new HashSet<>();
    /** Objects of the program, and collections, arrays and counters that they keep. */
    final Set<Object> held = Collections.newSetFromMap(new IdentityHashMap<>());

    Footprint(Map<MethodCode, Integer> reached, Set<String> read) {
        this.reached = reached;
        this.read = read;
    }

    /** Takes a field of the program that a method writes. */
    void writes(String method, String field) {
        if (!BEFORE_RECORDS.contains(method)) {
            written.add(field);
        }
    }

    /** Takes a call of the JDK. */
    void calls(String method, String owner, String member) {
        if (BEFORE_RECORDS.contains(method)) {
            return;
        }
        if (OF_ARRAYS.matcher(owner + "." + member).matches()) {
            for (String array : STORED) {
                changes(array);
            }
        } else if (owner.equals("java/util/Iterator") || owner.equals("java/util/ListIterator")
                || owner.equals("java/util/Map$Entry")) {
            if (CHANGES.matcher(member).matches()) {
                changes("java.util.Collection");
                changes("java.util.Map");
            }
        } else if (owner.equals("java/util/Collections")) {
            if (OF_COLLECTIONS.matcher(member).matches()) {
                changes("java.util.Collection");
            }
        } else if (owner.startsWith("java/") && CHANGES.matcher(member).matches()) {
            changes(owner.replace('/', '.'));
        }
    }

    /** Takes a call of a library. */
    void callsLibrary(String method, String owner, String member) {
        if (!BEFORE_RECORDS.contains(method) && !READS.matcher(member).matches()) {
            libraries.add(owner.replace('/', '.'));
        }
    }

    /** Takes an instruction that puts something into an array. */
    void stores(String method, String token) {
        if (!BEFORE_RECORDS.contains(method) && token.matches("i(79|8[0-6])")) {
            changes(STORED[Integer.parseInt(token.substring(1)) - FIRST_STORE]);
            hasFlags |= token.equals("i84");
        }
    }

    private void changes(String type) {
        try {
            changed.add(Class.forName(type, false, null));
        } catch (ClassNotFoundException ofLibrary) {
            return; // not of the JDK's own loader: no list has it
        }
    }

    /** The objects that this code may change. */
    List<Object> changeable() {
        return held.stream().filter(object -> changes(object) || !fields(object, written).isEmpty())
                .collect(Collectors.toList());
    }

    /** Of the objects that other code may change, one that this code uses so; null if there is none. */
    Object changedBy(Footprint other, List<Object> changeable) {
        for (Object object : changeable) {
            if (held.contains(object)
                    && (other.changes(object) || fields(object, other.written).stream().anyMatch(read::contains))) {
                // Code that does all that the other one does is proven with it.
                return reached.keySet().containsAll(other.reached.keySet()) ? null : object;
            }
        }
        return null;
    }

    private boolean changes(Object object) {
        return changed.stream().anyMatch(type -> type.isInstance(object)) || (hasFlags && object instanceof boolean[])
                || (!libraries.isEmpty() && isOfLibrary(object.getClass()));
    }

    private boolean isOfLibrary(Class<?> type) {
        return type != null && (libraries.contains(type.getName()) || isOfLibrary(type.getSuperclass())
                || java.util.Arrays.stream(type.getInterfaces()).anyMatch(this::isOfLibrary));
    }

    private static Set<String> fields(Object object, Set<String> of) {
        Set<String> found = new HashSet<>();
        for (Class<?> type = object.getClass(); type != null && !of.isEmpty(); type = type.getSuperclass()) {
            String prefix = type.getName().replace('.', '/') + ".";
            of.stream().filter(field -> field.startsWith(prefix)).forEach(found::add);
        }
        return found;
    }
}
