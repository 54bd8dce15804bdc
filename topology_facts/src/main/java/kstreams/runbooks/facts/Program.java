package kstreams.runbooks.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The nodes and stores of a built topology, as the library keeps them before it starts anything. */
final class Program {
    /** One operator: what the library made of it, and the code behind it. */
    static final class Node {
        final String name;
        /** The library's factory of the node: a source, a sink or a processor. */
        final Object factory;
        final Set<String> stores = new LinkedHashSet<>();
        final List<String> predecessors = new ArrayList<>();
        /** The object of a class that is not a wrapper; null for a source and a sink. */
        Object code;
        /** Whether a wrapper of the library around the code gives its records the key that they had. */
        boolean keepsKey;

        Node(String name, Object factory) {
            this.name = name;
            this.factory = factory;
        }
    }

    // Fields in which the wrappers of all releases have the object that they wrap.
    private static final String[] WRAPPED = {
        "delegate", "processorSupplier", "oldProcessorSupplier", "transformerSupplier", "valueTransformerSupplier",
        "val$supplier", "val$processorSupplier", "val$valueTransformerSupplier", "val$transformerSupplier", "supplier",
        "arg$1",
    };
    private static final int WRAPPERS = 6;
    private static final String KEEPS_KEY = "streams\\.kstream\\.internals\\.KStream(Flat)?TransformValues";
    final Library library;
    final Object builder;
    /** The class of a ProcessorWrapper of the program, which may hide the operators of Kafka; null without one. */
    final String wrapper;
    final Map<String, Node> nodes = new TreeMap<>();
    final Map<String, Object> stores = new TreeMap<>();
    final Map<String, Object> globalStores = new TreeMap<>();

    /** The program of a Topology, or of the builder inside one; NotRead if a field that holds its nodes is missing. */
    Program(Object topology) throws NotRead {
        library = Library.of(topology);
        builder = Peek.has(topology, "internalTopologyBuilder")
                ? Peek.field(topology, "internalTopologyBuilder")
                : topology;
        Object wraps = Peek.fieldOrNull(builder, "processorWrapper");
        wrapper = wraps == null || library.known(wraps).endsWith(".NoOpProcessorWrapper") ? null : Peek.nameOf(wraps);
        Peek.map(builder, "stateFactories").forEach((name, store) -> stores.put((String) name, store));
        Peek.map(builder, "globalStateBuilders").forEach((name, store) -> globalStores.put((String) name, store));
        for (Map.Entry<?, ?> entry : Peek.map(builder, "nodeFactories").entrySet()) {
            nodes.put((String) entry.getKey(), node((String) entry.getKey(), entry.getValue()));
        }
    }

    /** The nodes that the program connects with a store. */
    Collection<Node> users(String store) {
        List<Node> users = new ArrayList<>();
        for (Node node : nodes.values()) {
            if (node.stores.contains(store)) {
                users.add(node);
            }
        }
        return users;
    }

    /** Whether a node is a source. */
    boolean isSource(Node node) {
        return library.known(node.factory).endsWith("$SourceNodeFactory");
    }

    /** Whether a node is a sink. */
    boolean isSink(Node node) {
        return library.known(node.factory).endsWith("$SinkNodeFactory");
    }

    /** The topics of the sources right before a node. */
    Set<Object> topicsBefore(Node node) throws NotRead {
        Set<Object> topics = new LinkedHashSet<>();
        for (String before : node.predecessors) {
            Node source = nodes.get(before);
            if (isSource(source) && Peek.field(source.factory, "topics") != null) {
                topics.addAll((Collection<?>) Peek.field(source.factory, "topics"));
            }
        }
        return topics;
    }

    /** Whether a source names a topic. */
    boolean reads(Object topic) throws NotRead {
        for (Node node : nodes.values()) {
            if (isSource(node) && fixedTopics(node).contains(topic)) {
                return true;
            }
        }
        return false;
    }

    /** The topics of a source, or its pattern. */
    Collection<?> topicsOf(Node source) throws NotRead {
        Object pattern = Peek.field(source.factory, "pattern");
        return pattern == null ? fixedTopics(source) : Collections.singleton(pattern.toString());
    }

    /** The topics that a source names; none for a pattern. */
    Collection<?> fixedTopics(Node source) throws NotRead {
        Collection<?> topics = (Collection<?>) Peek.field(source.factory, "topics");
        return topics == null ? Collections.emptyList() : topics;
    }

    /** The internal topics; the value has the number of partitions that the program fixes, from release 2.6 on. */
    Map<?, ?> internalTopics() throws NotRead {
        if (Peek.has(builder, "internalTopicNamesWithProperties")) {
            return Peek.map(builder, "internalTopicNamesWithProperties");
        }
        Map<Object, Object> names = new TreeMap<>();
        for (Object name : (Collection<?>) Peek.field(builder, "internalTopicNames")) {
            names.put(name, "");
        }
        return names;
    }

    /** The sinks that write one of some topics. */
    Collection<Node> writing(Set<Object> topics) throws NotRead {
        List<Node> writing = new ArrayList<>();
        for (Node node : nodes.values()) {
            if (isSink(node) && topics.contains(fixedTopic(node))) {
                writing.add(node);
            }
        }
        return writing;
    }

    /** The topic of a sink; null if a class of the program chooses one for each record. */
    String fixedTopic(Node sink) throws NotRead {
        Object extractor = Peek.field(sink.factory, "topicExtractor");
        return library.known(extractor).endsWith(".StaticTopicNameExtractor")
                ? (String) Peek.field(extractor, "topicName")
                : null;
    }

    private Node node(String name, Object factory) throws NotRead {
        Node node = new Node(name, factory);
        node.predecessors.addAll(Arrays.asList((String[]) Peek.field(factory, "predecessors")));
        if (Peek.has(factory, "supplier")) {
            unwrap(node, Peek.field(factory, "supplier"));
            for (Object store : (Collection<?>) Peek.field(factory, "stateStoreNames")) {
                node.stores.add((String) store);
            }
        }
        return node;
    }

    private void unwrap(Node node, Object supplier) throws NotRead {
        node.code = supplier;
        for (int wrapper = 0; wrapper < WRAPPERS && isWrapper(node.code); wrapper++) {
            Object inner = inner(node.code);
            if (inner == null) {
                return;
            }
            node.keepsKey |= library.known(node.code).matches(KEEPS_KEY);
            node.code = inner;
        }
    }

    private boolean isWrapper(Object code) {
        return !library.known(code).isEmpty() && !OperatorReader.knows(library.known(code));
    }

    private static Object inner(Object wrapper) throws NotRead {
        for (String field : WRAPPED) {
            Object inner = Peek.fieldOrNull(wrapper, field);
            if (inner != null) {
                return inner;
            }
        }
        return null;
    }
}
