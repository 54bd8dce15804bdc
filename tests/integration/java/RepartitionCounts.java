import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
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
 * Prints how many partitions the library gives the repartition topics of every pair, for numbers drawn for its inputs,
 * once the same for all: {@code PAIR|SIDE|given|made}, topics as {@code name=number,...}. What it refuses is left out.
 */
public final class RepartitionCounts {
    private static final int[] NUMBERS = {2, 3, 4, 5, 6, 7, 9, 12};
    private static final int DRAWS = 3;
    private static final String ID = "app";

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(1);
        for (String pair : Pairs.byName().keySet()) {
            for (String side : List.of("before", "after")) {
                for (int draw = 0; draw < DRAWS; draw++) {
                    // A topology is changed by being run: each draw builds its own.
                    print(pair, side, random, draw == 0);
                }
            }
        }
    }

    private static void print(String pair, String side, Random random, boolean even) throws Exception {
        var both = Pairs.byName().get(pair).build();
        Properties settings = new Properties();
        settings.put("application.id", ID);
        settings.put("bootstrap.servers", "none:0"); // required; nothing connects
        StreamsConfig config = new StreamsConfig(settings);
        InternalTopologyBuilder builder = builder(side.equals("before") ? both.before() : both.after());
        TopologyMetadata metadata = new TopologyMetadata(builder, config);
        metadata.buildAndRewriteTopology();

        Map<String, Integer> fixed = new TreeMap<>();
        Map<String, Integer> drawn = new TreeMap<>();
        Set<String> own = new TreeSet<>();
        int one = draw(random);
        var parts = builder.subtopologyToTopicsInfo().values();
        for (var part : parts) {
            own.addAll(part.repartitionSourceTopics.keySet());
            part.repartitionSourceTopics.forEach((topic, asked) ->
                    asked.numberOfPartitions().ifPresent(number -> fixed.put(topic, number)));
        }
        for (var part : parts) {
            for (String topic : new TreeSet<>(part.sourceTopics)) {
                if (!own.contains(topic)) {
                    drawn.putIfAbsent(topic, even ? one : draw(random));
                }
            }
        }
        Map<String, Integer> made = new TreeMap<>();
        InternalTopicManager manager = new InternalTopicManager(Time.SYSTEM, null, config) {
            @Override
            public Set<String> makeReady(Map<String, InternalTopicConfig> topics) {
                topics.forEach((topic, asked) -> made.put(topic, asked.numberOfPartitions().orElseThrow()));
                return Set.of();
            }
        };
        try {
            new RepartitionTopics(metadata, manager, new CopartitionedTopicsEnforcer(""), cluster(drawn), "").setup();
        } catch (RuntimeException refused) {
            return;
        }
        drawn.putAll(fixed);
        System.out.println(String.join("|", pair, side, text(drawn), text(made)));
    }

    private static int draw(Random random) {
        return NUMBERS[random.nextInt(NUMBERS.length)];
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

    private static String text(Map<String, Integer> topics) {
        return topics.entrySet().stream()
                .map(topic -> topic.getKey().replaceFirst("^" + ID + "-", "") + "=" + topic.getValue())
                .collect(Collectors.joining(","));
    }
}
