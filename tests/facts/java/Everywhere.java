import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import kstreams.runbooks.facts.TopologyFacts;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.processor.WallclockTimestampExtractor;
import org.apache.kafka.streams.state.Stores;
import topologies.Windows;

/** Programs whose code is the same on every release from 2.4 to 4.3. */
public final class Everywhere {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private Everywhere() {}

    /** Prints the facts of the stores, as an application's own code does. */
    public static void main(String[] arguments) {
        System.out.print(TopologyFacts.yaml(stores(), null));
    }

    /** A store of each kind of builder, with what a program may give it. */
    public static Topology stores() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.inMemoryKeyValueStore("plain"), Serdes.String(), Serdes.Long()));
        builder.addStateStore(Stores.timestampedKeyValueStoreBuilder(
                Stores.persistentTimestampedKeyValueStore("timestamped"), Serdes.String(), Serdes.Long()));
        builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.persistentTimestampedKeyValueStore("misread"), Serdes.String(), Serdes.Long()));
        builder.addStateStore(Stores.timestampedKeyValueStoreBuilder(
                Stores.persistentKeyValueStore("plain-files"), Serdes.String(), Serdes.Long()));
        builder.addStateStore(Stores.timestampedWindowStoreBuilder(
                Stores.persistentWindowStore("plain-window-files", MINUTE, MINUTE, false),
                Serdes.String(),
                Serdes.Long()));
        builder.addStateStore(Stores.windowStoreBuilder(
                Stores.persistentWindowStore("plain-window", MINUTE, MINUTE, false), Serdes.String(), Serdes.Long()));
        builder.addStateStore(Stores.windowStoreBuilder(
                Stores.persistentWindowStore("each-event", MINUTE, MINUTE, true), Serdes.String(), Serdes.Long()));
        builder.addStateStore(Stores.timestampedWindowStoreBuilder(
                Stores.persistentTimestampedWindowStore("timestamped-window", MINUTE, MINUTE, false),
                Serdes.String(),
                Serdes.Long()));
        builder.addStateStore(Stores.sessionStoreBuilder(
                Stores.inMemorySessionStore("sessions", MINUTE), Serdes.String(), Serdes.Long()));
        builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.lruMap("latest", 100), Serdes.String(), Serdes.Long()));
        builder.globalTable("countries", Materialized.as("countries-store"));
        builder.table("customers", Materialized.as("customers-store"));
        builder.table("products", Materialized.as(Stores.persistentKeyValueStore("products-store")));
        return builder.build();
    }

    /** Joins of streams: inner, left and outer. */
    public static Topology joins() {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> views = builder.stream("views");
        KStream<String, String> purchases = builder.stream("purchases");
        views.join(purchases, (one, other) -> one, Windows.within(MINUTE, MINUTE), named("inner"));
        views.leftJoin(purchases, (one, other) -> one, Windows.within(MINUTE, MINUTE), named("left"));
        views.outerJoin(purchases, (one, other) -> one, Windows.within(MINUTE, MINUTE), named("outer"));
        return builder.build();
    }

    /** Suppressions with and without a limit in bytes, behind windows. */
    public static Topology suppressions() {
        StreamsBuilder builder = new StreamsBuilder();
        KGroupedStream<String, String> visits =
                builder.stream("visits", Consumed.with(Serdes.String(), Serdes.String())).groupByKey();
        suppress(visits, "in-bytes", Suppressed.BufferConfig.maxBytes(4096).shutDownWhenFull());
        suppress(visits, "in-records", Suppressed.BufferConfig.maxRecords(10).shutDownWhenFull());
        suppress(visits, "unbounded", Suppressed.BufferConfig.unbounded());
        return builder.build();
    }

    /** Sinks with partitioners: of numbers, of an object inside it, of a list, and none. */
    public static Topology partitioners() {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> visits = builder.stream("visits", Consumed.with(Serdes.String(), Serdes.String()));
        write(visits, "by-number", new ByNumber(7, "secret"));
        write(visits, "by-other", new ByOther(new ByNumber(9, null)));
        write(visits, "by-list", new ByOther(Collections.singletonList(7)));
        write(visits, "by-none", null);
        return builder.build();
    }

    /** Sources with timestamp extractors: of numbers, of a number that may change, of a list, of Kafka, and none. */
    public static Topology extractors() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("by-number", Consumed.with(new ByField(3, "secret")));
        builder.stream("by-latest", Consumed.with(new ByLatest()));
        builder.stream("by-list", Consumed.with(new ByField(Collections.singletonList(3), null)));
        builder.stream("by-kafka", Consumed.with(new WallclockTimestampExtractor()));
        builder.stream("by-none");
        return builder.build();
    }

    private static final class ByField implements TimestampExtractor {
        private final Object field;
        private final String text;

        ByField(Object field, String text) {
            this.field = field;
            this.text = text;
        }

        public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
            return record.timestamp();
        }
    }

    private static final class ByLatest implements TimestampExtractor {
        private long latest;

        public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
            latest = Math.max(latest, record.timestamp());
            return latest;
        }
    }

    private static void write(KStream<String, String> visits, String topic, StreamPartitioner<String, String> by) {
        visits.to(topic, Produced.<String, String>as(topic).withStreamPartitioner(by));
    }

    private static class ByNumber implements StreamPartitioner<String, String> {
        private final int regions;
        private final String text;
        private final boolean strict = true;
        private final Class<?> type = Long.class;

        ByNumber(int regions, String text) {
            this.regions = regions;
            this.text = text;
        }

        public Integer partition(String topic, String key, String value, int partitions) {
            return regions % partitions;
        }

        public Optional<Set<Integer>> partitions(String topic, String key, String value, int partitions) {
            return Optional.of(Collections.singleton(regions % partitions));
        }
    }

    private static final class ByOther extends ByNumber {
        private final Object inner;

        ByOther(Object inner) {
            super(1, "secret");
            this.inner = inner;
        }
    }

    private static StreamJoined<String, String, String> named(String name) {
        return StreamJoined.<String, String, String>as(name).withName(name);
    }

    private static void suppress(
            KGroupedStream<String, String> visits, String name, Suppressed.StrictBufferConfig limit) {
        visits.windowedBy(Windows.tumbling(MINUTE, MINUTE))
                .count(Materialized.as(name + "-counts"))
                .suppress(Suppressed.untilWindowCloses(limit).withName(name));
    }
}
