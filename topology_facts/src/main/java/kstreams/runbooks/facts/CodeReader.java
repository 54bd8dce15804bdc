package kstreams.runbooks.facts;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kstreams.runbooks.code.Border;
import kstreams.runbooks.code.CodeDigest;
import kstreams.runbooks.code.JvmDefaults;
import kstreams.runbooks.code.NotProvable;

/**
 * Digests of the code behind each operator, format, extractor, partitioner and supplier.
 *
 * An object of Kafka around code of the program is left out: its class is a fact of its own. Only the command reads code:
 * it has the class files of the program, and the JVM that it starts shows the methods of lambdas.
 */
final class CodeReader {
    // Objects of Kafka that lead to other operators, or to what has facts of its own.
    private static final String OTHERS = "streams\\.(kstream\\.internals\\.(KTableImpl|KStreamImpl|AbstractStream|graph\\..*"
            + "|InternalStreamsBuilder|.*ValueGetterSupplier|.*Materialize[dr].*|.*StoreFactory.*)"
            + "|processor\\.internals\\.(InternalTopologyBuilder.*|.*Factory.*|.*Context.*|.*StoreBuilder.*)|state\\..*Builder.*|state\\.internals\\..*Store.*|StreamsConfig|KafkaStreams)";
    private static final String KEEPS = "streams\\.kstream\\.internals\\.(KStream|KTable)(Filter|Branch|Peek|Print)";
    private static final String SERDES = "(?i).*(serde|serializer).*";
    private static final int MOST_OBJECTS = 10_000;
    private final Class<?> factory;
    private final List<String> packages;
    private final JvmDefaults defaults;
    private final List<String> named = new ArrayList<>();
    private Program program;
    private Border classes;
    private Map<String, List<Object>> formats;

    /**
     * {@code packages} are more of the program's, with slashes, next to those of the class of the factory; the defaults
     * are those of the JVM before the program ran.
     */
    CodeReader(Class<?> factory, List<String> packages, JvmDefaults defaults) {
        this.factory = factory;
        this.defaults = defaults;
        this.packages = packages;
    }

    /** Takes a program whose other facts were read, and its settings, which may name classes of it. */
    void of(Program read, SerdeReader serdes, Map<?, ?> properties) {
        program = read;
        formats = serdes.objects;
        for (Object value : properties == null ? Collections.emptyList() : properties.values()) {
            named.addAll(Arrays.asList(
                    (value instanceof Class ? ((Class<?>) value).getName() : String.valueOf(value)).split("\\s*,\\s*")));
        }
    }

    /** Writes the part `code`; a reason for all of it if the classes of the program are not readable. */
    void read(Facts document) {
        if (program == null) {
            return;
        }
        String kafka = program.library.prefix().replace('.', '/');
        try (Border border = new Border(factory.getName(), kafka, packages, named)) {
            classes = border;
            new CodePart(new CodeDigest(border, factory.getClassLoader(), defaults)).read(document, subjects());
        } catch (NotProvable reason) {
            document.notRead("code", reason.getMessage());
        } catch (RuntimeException | LinkageError | StackOverflowError failure) {
            document.notRead("code", "the reader failed with " + failure.getClass().getName());
        }
    }

    /** The objects of the program behind each fact, in the order of the fields that lead to them. */
    private Map<String, List<List<Object>>> subjects() {
        Map<String, List<List<Object>>> found = new TreeMap<>();
        formats.forEach((where, objects) -> {
            if (!where.startsWith("operators.")) { // their topics have them
                put(found, where, ofFormat(objects));
            }
        });
        for (Program.Node node : program.nodes.values()) {
            String where = "operators." + node.name;
            if (program.isSource(node)) {
                put(found, where + ".timestamp_extractor", node.factory, "timestampExtractor");
            } else if (program.isSink(node)) {
                put(found, where + ".partitioner", node.factory, "partitioner");
                put(found, where + ".topic_extractor", node.factory, "topicExtractor");
            } else {
                try {
                    put(found, where + ".code", codeOf(node, false));
                } catch (NotRead hidden) {
                    continue; // as without the fact
                }
            }
        }
        program.stores.forEach((name, store) -> {
            put(found, "stores." + name + ".supplier", supplier(store));
            readFilling(found, name);
        });
        for (String topic : topics()) {
            Set<Object> named = Collections.singleton(topic);
            try {
                putAll(found, "topics." + topic + ".key", before(program.writing(named)));
            } catch (NotRead hidden) {
                continue; // as without the fact
            }
        }
        program.globalStores.forEach((name, store) -> put(found, "stores." + name + ".supplier", supplier(store)));
        return found;
    }

    private void put(Map<String, List<List<Object>>> found, String where, Object factoryOfNode, String field) {
        try {
            Object inner = Peek.fieldOrNull(factoryOfNode, field);
            put(found, where, roots(Collections.singletonList(inner), false));
        } catch (NotRead hidden) {
            return; // as without the fact
        }
    }

    private Set<String> topics() {
        Set<String> found = new TreeSet<>();
        for (String where : formats.keySet()) {
            if (where.startsWith("topics.")) {
                found.add(where.substring("topics.".length(), where.lastIndexOf('.')));
            }
        }
        return found;
    }

    /** What makes the values of a store, and what makes its keys, if its operators are those of the program. */
    private void readFilling(Map<String, List<List<Object>>> found, String store) {
        OperatorReader operators = new OperatorReader(program);
        List<Program.Node> filling = new ArrayList<>();
        List<List<Object>> aggregate = new ArrayList<>();
        try {
            for (Program.Node node : program.nodes.values()) {
                if (store.equals(operators.fills(node))) {
                    filling.add(node);
                }
            }
            Collection<Program.Node> nodes = filling.isEmpty() ? program.users(store) : filling;
            for (Program.Node node : nodes) {
                aggregate.add(codeOf(node, false));
            }
            putAll(found, "stores." + store + ".aggregate", aggregate);
            putAll(found, "stores." + store + ".key", before(nodes));
        } catch (NotRead hidden) {
            return; // as without the facts
        }
    }

    private static void put(Map<String, List<List<Object>>> found, String where, List<Object> objects) {
        putAll(found, where, Collections.singletonList(objects));
    }

    private static void putAll(Map<String, List<List<Object>>> found, String where, List<List<Object>> parts) {
        List<List<Object>> filled = new ArrayList<>(parts);
        filled.removeIf(Collection::isEmpty);
        if (!filled.isEmpty()) {
            found.put(where, filled);
        }
    }

    /**
     * What makes the keys of the records that reach some operators, in the order of the way back, through internal topics:
     * the code of each operator that may give another key, and of each one in front of it, because its values may become
     * the key. These are also what fills the stores that such an operator reads. Filters keep keys and values.
     */
    private List<List<Object>> before(Collection<Program.Node> nodes) throws NotRead {
        KeyReader keys = new KeyReader(program);
        List<List<Object>> found = new ArrayList<>();
        Set<Program.Node> passed = new LinkedHashSet<>(nodes);
        Set<Program.Node> seen = new LinkedHashSet<>();
        Deque<Program.Node> open = new ArrayDeque<>(nodes);
        Deque<Program.Node> making = new ArrayDeque<>();
        while (!open.isEmpty() || !making.isEmpty()) {
            boolean makes = open.isEmpty();
            Program.Node node = makes ? making.remove() : open.remove();
            String known = program.library.known(node.code);
            boolean fills = !makes && nodes.contains(node) && known.startsWith("streams.")
                    && !known.contains(".foreignkeyjoin.");
            boolean isProcessor = Peek.has(node.factory, "supplier");
            boolean counts = isProcessor && !known.matches(KEEPS) && !fills && (makes || !keys.keepsKey(node));
            if (counts) {
                found.add(codeOf(node, true));
            }
            boolean feeds = makes || counts;
            for (Program.Node each : inFront(node, feeds && isProcessor)) {
                if (feeds ? seen.add(each) : passed.add(each)) {
                    (feeds ? making : open).add(each);
                }
            }
        }
        return found;
    }

    private List<Program.Node> inFront(Program.Node node, boolean withStores) throws NotRead {
        List<Program.Node> found = new ArrayList<>();
        node.predecessors.forEach(name -> found.add(program.nodes.get(name)));
        if (program.isSource(node)) {
            found.addAll(program.writing(new LinkedHashSet<>(program.topicsOf(node))));
        }
        for (String store : withStores ? node.stores : Collections.<String>emptySet()) {
            program.users(store).stream().filter(user -> user != node).forEach(found::add);
        }
        return found;
    }

    /** The code of an operator; {@code withViews}: also what makes the rows that it looks up. */
    private List<Object> codeOf(Program.Node node, boolean withViews) throws NotRead {
        List<Object> from = new ArrayList<>();
        from.add(Peek.fieldOrNull(node.factory, "supplier"));
        List<Object> found = roots(from, false, withViews);
        if (program.library.known(node.code).endsWith("KStreamFilter") && Peek.flag(node.code, "filterNot")) {
            found.add("filterNot");
        }
        if (program.wrapper != null) {
            found.add(Peek.field(program.builder, "processorWrapper"));
        }
        return found;
    }

    private List<Object> supplier(Object store) {
        try {
            return roots(Collections.singletonList(StoreReader.unwrapped(program.library, store)), true);
        } catch (NotRead hidden) {
            return Collections.emptyList();
        }
    }

    /** The objects of a format, with the settings of Kafka's own around them, such as the class of a list. */
    private List<Object> ofFormat(List<Object> objects) {
        Walk walk = new Walk(false, false);
        walk.isFormat = true;
        objects.forEach(walk::to);
        return walk.ofProgram ? walk.found : Collections.emptyList();
    }

    private List<Object> roots(List<Object> from, boolean isStore) {
        return roots(from, isStore, false);
    }

    /** The objects that are not Kafka's, also inside those of Kafka; {@code isStore}: of a builder, without its serdes. */
    private List<Object> roots(List<Object> from, boolean isStore, boolean withViews) {
        Walk walk = new Walk(isStore, withViews);
        from.forEach(walk::to);
        return walk.found;
    }

    /** One walk. What is there twice is found twice: it has two roles. */
    private final class Walk {
        private final boolean isStore;
        private final boolean withViews;
        private boolean isFormat;
        private boolean ofProgram;
        private final List<Object> found = new ArrayList<>();
        /** Where in the list the objects inside each one begin and end; no end while the walk is inside. */
        private final Map<Object, int[]> seen = new IdentityHashMap<>();

        Walk(boolean isStore, boolean withViews) {
            this.isStore = isStore;
            this.withViews = withViews;
        }

        private void to(Object object) {
            if (object == null || seen.size() > MOST_OBJECTS) {
                return;
            }
            int[] known = seen.get(object);
            if (known != null) {
                if (known[1] >= 0) {
                    found.addAll(new ArrayList<>(found.subList(known[0], known[1])));
                }
                return;
            }
            int[] place = {found.size(), -1};
            seen.put(object, place);
            inside(object);
            place[1] = found.size();
        }

        private void inside(Object object) {
            Class<?> type = object.getClass();
            String name = type.getName();
            String place = Library.withoutLambda(name).replace('.', '/');
            String known = classes.owns(place) || !classes.isKafka(place) ? "" : program.library.known(object);
            if (type.isArray()) {
                for (int at = 0; !type.getComponentType().isPrimitive() && at < Array.getLength(object); at++) {
                    to(Array.get(object, at));
                }
            } else if (known.isEmpty()) {
                if (object instanceof Collection && name.startsWith("java.")) {
                    new ArrayList<>((Collection<?>) object).forEach(this::to);
                } else if (object instanceof java.util.Optional) {
                    to(((java.util.Optional<?>) object).orElse(null));
                } else if (classes.owns(place) || Library.isLambda(object)
                        || !(name.matches("(java|javax|jdk|sun)\\..*") || classes.isLogger(place))) {
                    found.add(object);
                    ofProgram = true;
                }
            } else if (found.isEmpty() && seen.size() == 1 || isStore || Library.isLambda(object)
                    || !known.matches(OTHERS) || (withViews && known.contains("ValueGetterSupplier"))) {
                fields(object, type);
            }
        }

        private boolean isSetting(Object value) {
            return value instanceof Class || value instanceof Enum || value instanceof Number
                    || value instanceof Boolean || value instanceof String;
        }

        private void fields(Object object, Class<?> lowest) {
            for (Class<?> type = lowest; type != null && type != Object.class; type = type.getSuperclass()) {
                Field[] fields = type.getDeclaredFields();
                Arrays.sort(fields, (one, other) -> one.getName().compareTo(other.getName()));
                for (Field field : fields) {
                    boolean counts = !Modifier.isStatic(field.getModifiers())
                            && (isFormat || !field.getType().isPrimitive())
                            && !(isStore && field.getName().matches(SERDES));
                    if (counts) {
                        try {
                            Object value = Peek.field(object, field.getName());
                            if (isFormat && isSetting(value)) {
                                found.add(value);
                            } else {
                                to(value);
                            }
                        } catch (NotRead hidden) {
                            continue; // not one of the program's: Kafka's are readable
                        }
                    }
                }
            }
        }
    }
}
