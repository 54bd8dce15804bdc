import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import kstreams.runbooks.facts.TopologyFacts;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.internals.InternalTopicConfig;
import org.apache.kafka.streams.processor.internals.InternalTopicManager;
import org.apache.kafka.streams.processor.internals.InternalTopologyBuilder;
import org.apache.kafka.streams.processor.internals.RepartitionTopics;
import org.apache.kafka.streams.processor.internals.TopologyMetadata;
import org.apache.kafka.streams.processor.internals.assignment.CopartitionedTopicsEnforcer;
import topologies.Pairs;

/**
 * Prints the internal topics that the library makes for each pair of tests/apps/topologies, for numbers drawn for its
 * inputs: {@code PAIR|SIDE|input=number,...|topic=number=setting=value;setting=value|...}. The facts of each are
 * written to {@code DIRECTORY/PAIR-SIDE.yaml}. What the library refuses is left out.
 */
public final class InternalTopics {
    private static final int[] NUMBERS = {2, 3, 4, 5, 6, 7, 9, 12};
    private static final String ID = "app";

    private InternalTopics() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        Random random = new Random(Long.parseLong(arguments[1]));
        Properties settings = new Properties();
        settings.put("application.id", ID);
        settings.put("bootstrap.servers", "none:0"); // required; nothing connects
        settings.put("default.key.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        settings.put("default.value.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        for (int place = 2; place < arguments.length; place++) {
            String[] setting = arguments[place].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        for (String pair : Pairs.byName().keySet()) {
            for (String side : List.of("before", "after")) {
                var built = Pairs.byName().get(pair).build();
                Topology topology = side.equals("before") ? built.before() : built.after();
                Files.writeString(directory.resolve(pair + "-" + side + ".yaml"), TopologyFacts.yaml(topology, settings));
                String made = made(topology, settings, random);
                if (made != null) {
                    System.out.println(pair + "|" + side + "|" + made);
                }
            }
        }
    }

    private static String made(Topology topology, Properties settings, Random random) throws Exception {
        StreamsConfig config = new StreamsConfig(settings);
        InternalTopologyBuilder builder = builder(topology);
        TopologyMetadata metadata = new TopologyMetadata(builder, config);
        metadata.buildAndRewriteTopology();
        Set<String> own = new TreeSet<>();
        var parts = builder.subtopologyToTopicsInfo().values();
        parts.forEach(part -> own.addAll(part.repartitionSourceTopics.keySet()));
        Map<String, Integer> drawn = new TreeMap<>();
        int one = NUMBERS[random.nextInt(NUMBERS.length)];
        boolean even = random.nextInt(3) > 0; // joined inputs of different sizes are refused
        for (var part : parts) {
            for (String topic : new TreeSet<>(part.sourceTopics)) {
                if (!own.contains(topic)) {
                    drawn.putIfAbsent(topic, even ? one : NUMBERS[random.nextInt(NUMBERS.length)]);
                }
            }
        }
        Map<String, InternalTopicConfig> made = new TreeMap<>();
        InternalTopicManager manager = new InternalTopicManager(Time.SYSTEM, null, config) {
            @Override
            public Set<String> makeReady(Map<String, InternalTopicConfig> topics) {
                made.putAll(topics);
                return Set.of();
            }
        };
        try {
            new RepartitionTopics(metadata, manager, new CopartitionedTopicsEnforcer(""), cluster(drawn), "").setup();
        } catch (RuntimeException refused) {
            return null;
        }
        Map<String, Integer> counts = new TreeMap<>(drawn);
        made.forEach((topic, asked) -> counts.put(topic, asked.numberOfPartitions().orElseThrow()));
        for (var part : parts) {
            int tasks = part.sourceTopics.stream().mapToInt(counts::get).max().orElse(0);
            for (InternalTopicConfig changelog : part.nonSourceChangelogTopics()) {
                made.put(changelog.name(), changelog);
                counts.put(changelog.name(), tasks);
            }
        }
        List<String> found = new ArrayList<>();
        found.add(drawn.entrySet().stream().map(topic -> topic.getKey() + "=" + topic.getValue())
                .collect(Collectors.joining(",")));
        for (Map.Entry<String, InternalTopicConfig> topic : made.entrySet()) {
            found.add(topic.getKey() + "=" + counts.get(topic.getKey()) + "=" + properties(topic.getValue(), config));
        }
        return String.join("|", found);
    }

    private static String properties(InternalTopicConfig topic, StreamsConfig config) throws Exception {
        Map<String, String> given = new TreeMap<>();
        config.originalsWithPrefix("topic.").forEach((name, value) -> given.put(name, value.toString()));
        long additional = config.getLong("windowstore.changelog.additional.retention.ms");
        for (Method method : topic.getClass().getMethods()) {
            if (Set.of("properties", "getProperties").contains(method.getName()) && method.getParameterCount() == 2) {
                method.setAccessible(true);
                Map<?, ?> all = (Map<?, ?>) method.invoke(topic, given, additional);
                return new TreeMap<>(all).entrySet().stream().map(Object::toString).collect(Collectors.joining(";"));
            }
        }
        throw new IllegalStateException(topic.getClass() + " has no settings");
    }

    private static InternalTopologyBuilder builder(Topology topology) throws ReflectiveOperationException {
        Field field = Topology.class.getDeclaredField("internalTopologyBuilder");
        field.setAccessible(true);
        return (InternalTopologyBuilder) field.get(topology);
    }

    private static Cluster cluster(Map<String, Integer> topics) {
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.forEach((topic, number) -> {
            for (int partition = 0; partition < number; partition++) {
                partitions.add(new PartitionInfo(topic, partition, null, new Node[0], new Node[0]));
            }
        });
        return new Cluster("drawn", List.of(), partitions, Set.of(), Set.of());
    }
}
