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
    private Program program;
    private Map<String, List<Object>> formats;

    /** {@code packages} are more of the program's, with slashes, next to those of the class of the factory. */
    CodeReader(Class<?> factory, List<String> packages) {
        this.factory = factory;
        this.packages = packages;
    }

    /** Takes a program whose other facts were read. */
    void of(Program read, SerdeReader serdes) {
        program = read;
        formats = serdes.objects;
    }

    /** Writes the part `code`; a reason for all of it if the classes of the program are not readable. */
    void read(Facts document) {
        if (program == null) {
            return;
        }
        String kafka = program.library.prefix().replace('.', '/');
        try (Border border = new Border(factory.getName(), kafka, packages)) {
            new CodePart(new CodeDigest(border, factory.getClassLoader())).read(document, subjects());
        } catch (NotProvable reason) {
            document.notRead("code", reason.getMessage());
        } catch (RuntimeException | LinkageError | StackOverflowError failure) {
            document.notRead("code", "the reader failed with " + failure.getClass().getName());
        }
    }

    /** The objects of the program behind each fact, in the order of the fields that lead to them. */
    private Map<String, List<Object>> subjects() {
        Map<String, List<Object>> found = new TreeMap<>();
        formats.forEach((where, objects) -> {
            if (!where.startsWith("operators.")) { // their topics have them
                found.put(where, roots(objects, false));
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
                put(found, where + ".code", node.factory, "supplier");
            }
        }
        program.stores.forEach((name, store) -> {
            found.put("stores." + name + ".supplier", supplier(store));
            readFilling(found, name);
        });
        for (String topic : topics()) {
            Set<Object> named = Collections.singleton(topic);
            try {
                put(found, "topics." + topic + ".key", before(program.writing(named)));
            } catch (NotRead hidden) {
                continue; // as without the fact
            }
        }
        program.globalStores.forEach((name, store) -> found.put("stores." + name + ".supplier", supplier(store)));
        found.values().removeIf(Collection::isEmpty);
        return found;
    }

    private void put(Map<String, List<Object>> found, String where, Object factoryOfNode, String field) {
        try {
            Object inner = Peek.fieldOrNull(factoryOfNode, field);
            found.put(where, roots(Collections.singletonList(inner), false));
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
    private void readFilling(Map<String, List<Object>> found, String store) {
        OperatorReader operators = new OperatorReader(program);
        List<Program.Node> filling = new ArrayList<>();
        List<Object> aggregate = new ArrayList<>();
        try {
            for (Program.Node node : program.nodes.values()) {
                if (store.equals(operators.fills(node))) {
                    filling.add(node);
                }
            }
            Collection<Program.Node> nodes = filling.isEmpty() ? program.users(store) : filling;
            for (Program.Node node : nodes) {
                aggregate.addAll(roots(Collections.singletonList(Peek.fieldOrNull(node.factory, "supplier")), false));
            }
            put(found, "stores." + store + ".aggregate", aggregate);
            put(found, "stores." + store + ".key", before(nodes));
        } catch (NotRead hidden) {
            return; // as without the facts
        }
    }

    private static void put(Map<String, List<Object>> found, String where, List<Object> objects) {
        if (!objects.isEmpty()) {
            found.put(where, objects);
        }
    }

    /**
     * The code of every operator before some, in the order of the way back, through internal topics: what may give
     * records another key, and what gives them the values from which one is made. Filters keep both.
     */
    private List<Object> before(Collection<Program.Node> nodes) throws NotRead {
        List<Object> found = new ArrayList<>();
        Set<Program.Node> seen = new LinkedHashSet<>(nodes);
        Deque<Program.Node> open = new ArrayDeque<>(nodes);
        while (!open.isEmpty()) {
            Program.Node node = open.remove();
            String known = program.library.known(node.code);
            boolean keeps = known.matches(KEEPS) || (nodes.contains(node) && known.startsWith("streams.")
                    && !known.contains(".foreignkeyjoin."));
            if (!keeps && Peek.has(node.factory, "supplier")) {
                found.addAll(roots(Collections.singletonList(Peek.field(node.factory, "supplier")), false));
            }
            List<Program.Node> next = new ArrayList<>();
            node.predecessors.forEach(name -> next.add(program.nodes.get(name)));
            if (program.isSource(node)) {
                next.addAll(program.writing(new LinkedHashSet<>(program.topicsOf(node))));
            }
            for (Program.Node each : next) {
                if (seen.add(each)) {
                    open.add(each);
                }
            }
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

    /** The objects that are not Kafka's, also inside those of Kafka; {@code isStore}: of a builder, without its serdes. */
    private List<Object> roots(List<Object> from, boolean isStore) {
        List<Object> found = new ArrayList<>();
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        from.forEach(object -> walk(object, found, seen, isStore));
        return found;
    }

    private void walk(Object object, List<Object> found, Set<Object> seen, boolean isStore) {
        if (object == null || !seen.add(object) || seen.size() > MOST_OBJECTS) {
            return;
        }
        Class<?> type = object.getClass();
        String name = type.getName();
        if (type.isArray()) {
            for (int at = 0; !type.getComponentType().isPrimitive() && at < Array.getLength(object); at++) {
                walk(Array.get(object, at), found, seen, isStore);
            }
        } else if (program.library.known(object).isEmpty()) {
            if (object instanceof Collection) {
                new ArrayList<>((Collection<?>) object).forEach(part -> walk(part, found, seen, isStore));
            } else if (object instanceof java.util.Optional) {
                walk(((java.util.Optional<?>) object).orElse(null), found, seen, isStore);
            } else if (!name.matches("(java|javax|jdk|sun)\\..*|org\\.slf4j\\..*") || Library.isLambda(object)) {
                found.add(object);
            }
        } else if (found.isEmpty() && seen.size() == 1 || isStore || Library.isLambda(object)
                || !program.library.known(object).matches(OTHERS)) {
            fields(object, type, found, seen, isStore);
        }
    }

    private void fields(Object object, Class<?> lowest, List<Object> found, Set<Object> seen, boolean isStore) {
        for (Class<?> type = lowest; type != null && type != Object.class; type = type.getSuperclass()) {
            Field[] fields = type.getDeclaredFields();
            Arrays.sort(fields, (one, other) -> one.getName().compareTo(other.getName()));
            for (Field field : fields) {
                boolean counts = !Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()
                        && !(isStore && field.getName().matches(SERDES));
                if (counts) {
                    try {
                        walk(Peek.field(object, field.getName()), found, seen, isStore);
                    } catch (NotRead hidden) {
                        continue; // not one of the program's: Kafka's are readable
                    }
                }
            }
        }
    }
}
