import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.UnlimitedWindows;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** What the pairs of tests/apps/topologies do not have, and factories that fail. */
public final class Programs {
    private Programs() {}

    /** Aggregations over windows, with each of the suppliers and strategies. */
    public static Topology windows() {
        StreamsBuilder builder = new StreamsBuilder();
        KGroupedStream<String, String> visits =
                builder.stream("visits", Consumed.with(Serdes.String(), Serdes.String())).groupByKey();
        SessionWindows sessions = SessionWindows.ofInactivityGapAndGrace(ofMinutes(30), ofMinutes(5));
        visits.windowedBy(sessions).emitStrategy(EmitStrategy.onWindowClose()).count(Materialized.as("final-sessions"));
        visits.windowedBy(sessions).count(Materialized.as("sessions"));
        visits.windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(ofMinutes(10), ofMinutes(1)))
                .emitStrategy(EmitStrategy.onWindowClose())
                .reduce((one, other) -> other, Materialized.as("final-sliding"));
        visits.windowedBy(TimeWindows.ofSizeAndGrace(ofMinutes(10), ofSeconds(0)).advanceBy(ofMinutes(2)))
                .count(Materialized.as(Stores.inMemoryWindowStore("hopping", ofHours(2), ofMinutes(10), false)));
        visits.windowedBy(UnlimitedWindows.of()).count(Materialized.as("unlimited"));
        visits.windowedBy(TimeWindows.ofSizeWithNoGrace(ofMinutes(1)))
                .count(Materialized.as("per-minute"))
                .suppress(Suppressed.untilTimeLimit(
                                ofSeconds(90), Suppressed.BufferConfig.maxBytes(4096).emitEarlyWhenFull())
                        .withName("slowly"));
        return builder.build();
    }

    /** Topics, serdes with a state, and stores with settings of their changelogs. */
    public static Topology topics(Properties settings) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> events = builder.stream(
                Pattern.compile("events-.*"),
                Consumed.with(Serdes.String(), (Serde<String>) new Sealed(7, String.class, "a secret"))
                        .withOffsetResetPolicy(Topology.AutoOffsetReset.EARLIEST)
                        .withName("events"));
        events.repartition(Repartitioned.<String, String>as("spread").withNumberOfPartitions(6))
                .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counted"))
                        .withLoggingEnabled(Map.of("min.insync.replicas", "2"))
                        .withCachingDisabled());
        events.groupByKey()
                .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("lost")).withLoggingDisabled());
        builder.globalTable("countries", Materialized.as("countries-store"));
        builder.table("rates", Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("rates-store")
                .withStoreType(Materialized.StoreType.IN_MEMORY));
        events.leftJoin(
                builder.<String, String>stream("late"),
                (one, other) -> one,
                JoinWindows.ofTimeDifferenceAndGrace(ofMinutes(3), ofMinutes(1)).before(ofMinutes(1)),
                StreamJoined.<String, String, String>as("skewed").withName("skewed"));
        events.to((key, value, context) -> value, Produced.<String, String>as("chosen")
                .withStreamPartitioner(new First()));
        return builder.build(settings);
    }

    /** A join by a foreign key with a partitioner for each side, and one without. */
    static Topology foreignKeys() {
        StreamsBuilder builder = new StreamsBuilder();
        KTable<String, String> orders = builder.table("orders", Consumed.with(Serdes.String(), Serdes.String()));
        KTable<String, String> buyers = builder.table("buyers", Consumed.with(Serdes.String(), Serdes.String()));
        orders.join(buyers, order -> order, (order, buyer) -> buyer, TableJoined.as("plain"));
        orders.join(
                buyers,
                order -> order,
                (order, buyer) -> buyer,
                TableJoined.<String, String>with(new ToPart(0), new ToPart(1)).withName("chosen"));
        return builder.build();
    }

    /** A processor of one's own with a store. */
    static Topology processors() {
        return new Topology()
                .addSource("in", "in")
                .addProcessor("seen", (ProcessorSupplier<String, String, Void, Void>) Seen::new, "in")
                .addProcessor("counted", new Counting(), "in")
                .addStateStore(
                        Stores.keyValueStoreBuilder(
                                Stores.inMemoryKeyValueStore("seen"), Serdes.String(), Serdes.Long()),
                        "seen", "counted");
    }

    /** A processor that gets a key which it cannot change, and one that may give another. */
    static Topology keys() {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> orders = builder.stream("orders", Consumed.with(Serdes.String(), Serdes.String()));
        orders.<String>processValues(Fixed::new, Named.as("fixed")).to("kept");
        orders.<String, String>process(Passing::new, Named.as("passing")).to("passed");
        return builder.build();
    }

    public static Topology fails() {
        throw new IllegalStateException("no schema registry at\nhttp://127.0.0.1:1");
    }

    /** Connects to a server that accepts and never answers. */
    public static Topology connects() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(silent.getInetAddress(), silent.getLocalPort())) {
            client.getInputStream().read();
            return windows();
        }
    }

    /** Connects to a port at which there is no server any more. */
    public static Topology isRefused() throws IOException {
        ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        gone.close();
        new Socket(gone.getInetAddress(), gone.getLocalPort()).close();
        return windows();
    }

    public static Topology exits() {
        System.exit(3);
        return windows();
    }

    public static String text() {
        System.out.println("a line of the program");
        return "text";
    }

    public Topology perObject() {
        return windows();
    }

    /** A partitioner has one method until 3.9 and the other from 4.0 on. */
    private static final class First implements StreamPartitioner<String, String> {
        public Integer partition(String topic, String key, String value, int partitions) {
            return 0;
        }

        public Optional<Set<Integer>> partitions(String topic, String key, String value, int partitions) {
            return Optional.of(Set.of(0));
        }
    }

    private static final class ToPart implements StreamPartitioner<String, Void> {
        private final int part;

        ToPart(int part) {
            this.part = part;
        }

        public Integer partition(String topic, String key, Void value, int partitions) {
            return part;
        }

        public Optional<Set<Integer>> partitions(String topic, String key, Void value, int partitions) {
            return Optional.of(Set.of(part));
        }
    }

    private static final class Counting implements ProcessorSupplier<String, String, Void, Void> {
        @Override
        public Processor<String, String, Void, Void> get() {
            return new Seen();
        }
    }

    private static final class Fixed implements FixedKeyProcessor<String, String, String> {
        @Override
        public void process(FixedKeyRecord<String, String> record) {}
    }

    private static final class Passing implements Processor<String, String, String, String> {
        @Override
        public void process(Record<String, String> record) {}
    }

    private static final class Seen implements Processor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {}
    }

    private static final class Sealed implements Serde<String> {
        private final int version;
        private final Class<?> type;
        private final String password;

        Sealed(int version, Class<?> type, String password) {
            this.version = version;
            this.type = type;
            this.password = password;
        }

        @Override
        public Serializer<String> serializer() {
            return new Sealing(version, type, password);
        }

        @Override
        public Deserializer<String> deserializer() {
            return new Sealing(version, type, password);
        }
    }

    private record Sealing(int version, Class<?> type, String password)
            implements Serializer<String>, Deserializer<String> {
        @Override
        public byte[] serialize(String topic, String data) {
            return data.getBytes();
        }

        @Override
        public String deserialize(String topic, byte[] data) {
            return new String(data);
        }

        @Override
        public void configure(Map<String, ?> configs, boolean isKey) {}

        @Override
        public void close() {}
    }
}
