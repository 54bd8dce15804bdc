package changes;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.streams.TopologyDescription;
import org.apache.kafka.streams.processor.internals.InternalTopologyBuilder;

/** What the library made of a program: operators, stores and topics, each with the step that it belongs to. */
final class Built {
    static final String PREFIX = "app-";
    private static final Pattern NUMBER = Pattern.compile("-(\\d{10})(?:-|$)");

    final Program program;
    final String text;
    final Map<String, TopologyDescription.Node> nodes = new LinkedHashMap<>();
    /** Number of the subtopology of each store but global ones: the DSL gives each a changelog of its name. */
    final Map<String, Integer> stores = new TreeMap<>();
    final Set<String> globalStores = new TreeSet<>();
    final Map<Integer, Set<String>> reads = new TreeMap<>();
    final Map<Integer, Set<String>> writes = new TreeMap<>();
    final Set<String> internal = new TreeSet<>();
    final Map<String, Integer> partitions = new TreeMap<>();
    final Map<Integer, Integer> tasks = new TreeMap<>();
    /** Topics of others that one join needs with the same number of partitions. */
    final Set<Set<String>> joined = new HashSet<>();
    /** Why it does not start; empty where it does. */
    String refused = "";
    private final Set<String> repartitions = new TreeSet<>();
    private final Build build;
    private final Map<String, Integer> names = new HashMap<>();

    Built(Program program) {
        this.program = program;
        this.build = new Build(program);
        TopologyDescription description = build.topology.describe();
        this.text = description.toString();
        for (Step step : program.steps) {
            for (String name : new String[] {step.name, step.grouped, step.store}) {
                if (name != null) {
                    names.put(name.split("-")[0], step.id);
                }
            }
        }
        description.subtopologies().forEach(sub -> sub.nodes().forEach(node -> {
            nodes.put(node.name(), node);
            if (node instanceof TopologyDescription.Processor one) {
                one.stores().forEach(store -> stores.put(store, sub.id()));
            }
        }));
        InternalTopologyBuilder inner =
                (InternalTopologyBuilder) Build.field(build.topology, "internalTopologyBuilder");
        inner.setApplicationId("app");
        description.globalStores().forEach(store -> globalStores.addAll(store.processor().stores()));
        inner.subtopologyToTopicsInfo().forEach((sub, info) -> {
            int number = (int) Build.field(sub, "nodeGroupId");
            info.repartitionSourceTopics.keySet().forEach(topic -> repartitions.add(plain(topic)));
            reads.put(number, plain(info.sourceTopics));
            writes.put(number, plain(info.sinkTopics));
        });
        reads.values().forEach(internal::addAll);
        Set<String> written = new HashSet<>();
        writes.values().forEach(written::addAll);
        internal.retainAll(written);
        count(inner.copartitionGroups());
    }

    /** The step that a name belongs to: by its number, or by a chosen name. */
    Step owner(String name) {
        // A store may have got the name that another step gives its own by default.
        for (Step step : program.steps) {
            if (name.equals(step.store)) {
                return step;
            }
        }
        Matcher number = NUMBER.matcher(name);
        Integer id = number.find()
                ? build.numbers.floorEntry(Integer.parseInt(number.group(1))).getValue()
                : names.get(name.split("-")[0]);
        if (id == null) {
            throw new IllegalStateException("no step has the name " + name);
        }
        return program.step(id);
    }

    /** The step that writes and reads a topic back. */
    Step ownerOfTopic(String topic) {
        return program.steps.stream()
                .filter(step -> step.kind == Step.Kind.THROUGH && topic.equals(step.topic))
                .findFirst()
                .orElseGet(() -> owner(topic));
    }

    /** Steps that get the records of a topic, directly or behind other topics. */
    Set<Integer> served(String topic) {
        Set<Integer> found = new TreeSet<>();
        Set<String> seen = new HashSet<>();
        Deque<TopologyDescription.Node> left = new ArrayDeque<>();
        nodes.values().stream().filter(node -> sources(node).contains(topic)).forEach(left::add);
        while (!left.isEmpty()) {
            TopologyDescription.Node node = left.pop();
            if (seen.add(node.name())) {
                if (!sources(node).contains(topic) && !(node instanceof TopologyDescription.Source)) {
                    found.add(owner(node.name()).id);
                }
                left.addAll(node.successors());
                if (node instanceof TopologyDescription.Sink sink && internal.contains(sink.topic())) {
                    nodes.values().stream().filter(one -> sources(one).contains(sink.topic())).forEach(left::add);
                }
            }
        }
        return found;
    }

    /** The operators that a store belongs to; others may look something up in it. */
    List<TopologyDescription.Node> keepers(String store) {
        return nodes.values().stream()
                .filter(node -> node instanceof TopologyDescription.Processor one && one.stores().contains(store))
                .filter(node -> owner(node.name()).id == owner(store).id)
                .toList();
    }

    /** Topics from which the subtopology of a store fills it. */
    Set<String> filling(String store) {
        Set<String> found = new TreeSet<>();
        Set<String> seen = new HashSet<>();
        Deque<TopologyDescription.Node> left = new ArrayDeque<>(keepers(store));
        while (!left.isEmpty()) {
            TopologyDescription.Node node = left.pop();
            if (seen.add(node.name())) {
                left.addAll(node.predecessors());
                found.addAll(sources(node));
            }
        }
        return found;
    }

    private static Set<String> sources(TopologyDescription.Node node) {
        return node instanceof TopologyDescription.Source source ? source.topicSet() : Set.of();
    }

    /** Partitions of internal topics and numbers of tasks, as RepartitionTopics and CopartitionedTopicsEnforcer do. */
    private void count(Collection<Set<String>> groups) {
        partitions.putAll(program.partitions);
        for (boolean more = true; more; ) {
            more = false;
            for (String topic : repartitions) {
                int most = 0;
                for (Map.Entry<Integer, Set<String>> sub : writes.entrySet()) {
                    if (sub.getValue().contains(topic)) {
                        most = Math.max(most, most(reads.get(sub.getKey())));
                    }
                }
                more |= most != partitions.getOrDefault(topic, 0);
                partitions.put(topic, most);
            }
        }
        for (Set<String> group : groups) {
            Set<String> own = plain(group);
            Set<String> given = new TreeSet<>(own);
            given.removeAll(repartitions);
            int wanted = most(given.isEmpty() ? own : given);
            if (given.stream().anyMatch(topic -> partitions.get(topic) != wanted)) {
                refused = "not co-partitioned: " + given;
            }
            own.stream().filter(repartitions::contains).forEach(topic -> partitions.put(topic, wanted));
            joined.add(given);
        }
        reads.forEach((number, topics) -> tasks.put(number, most(topics)));
    }

    private int most(Set<String> topics) {
        return topics.stream().mapToInt(topic -> partitions.getOrDefault(topic, 0)).max().orElse(0);
    }

    private static String plain(String topic) {
        return topic.startsWith(PREFIX) ? topic.substring(PREFIX.length()) : topic;
    }

    private static Set<String> plain(Collection<String> topics) {
        Set<String> made = new TreeSet<>();
        topics.forEach(topic -> made.add(plain(topic)));
        return made;
    }
}
