package updates;

import java.time.Duration;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/**
 * Sends the same key and value twice and prints, as one line of JSON, how many records came out: 2 where both did, 1
 * where the library kept back the one that changes nothing (emit on change, KIP-557).
 *
 * <pre>
 * IdempotentUpdates STATE_DIRECTORY
 * </pre>
 */
public final class IdempotentUpdates {
    private static final String KEY = "key";
    private static final String VALUE = "value";
    private static final String STORE = "store";
    private static final long TIME = 10_000;
    private static final Duration LIMIT = Duration.ofMillis(500);
    private static final long BEYOND_THE_LIMIT = TIME + 1_000;

    private final String state;

    private IdempotentUpdates(String state) {
        this.state = state;
    }

    public static void main(String[] arguments) {
        IdempotentUpdates updates = new IdempotentUpdates(arguments[0]);
        System.out.println("{\"release\": \"" + AppInfoParser.getVersion()
                + "\", \"source_table\": " + updates.twice(IdempotentUpdates::sourceTable)
                + ", \"source_table_without_store\": " + updates.twice(IdempotentUpdates::sourceTableWithoutStore)
                + ", \"stream\": " + updates.twice(IdempotentUpdates::stream)
                + ", \"reduce\": " + updates.twice(IdempotentUpdates::reduce)
                + ", \"read_again_after_a_crash\": " + updates.readAgain()
                + ", \"suppress_after_unchanged\": " + updates.suppressed(VALUE)
                + ", \"suppress_after_changed\": " + updates.suppressed("another value") + "}");
    }

    private static void sourceTable(StreamsBuilder builder) {
        table(builder).toStream().to("out");
    }

    private static void sourceTableWithoutStore(StreamsBuilder builder) {
        builder.table("in").toStream().to("out");
    }

    private static void stream(StreamsBuilder builder) {
        builder.stream("in").to("out");
    }

    /** Its result is the second value, which equals the first. */
    private static void reduce(StreamsBuilder builder) {
        builder.<String, String>stream("in")
                .groupByKey()
                .reduce((first, second) -> second, store())
                .toStream()
                .to("out");
    }

    private static void suppressedTable(StreamsBuilder builder) {
        table(builder)
                .suppress(Suppressed.untilTimeLimit(LIMIT, BufferConfig.unbounded()))
                .toStream()
                .to("out");
    }

    private static KTable<String, String> table(StreamsBuilder builder) {
        return builder.table("in", store());
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> store() {
        return Materialized.as(Stores.inMemoryKeyValueStore(STORE));
    }

    private String twice(Consumer<StreamsBuilder> topology) {
        return "{\"same_time\": " + twice(topology, TIME)
                + ", \"later\": " + twice(topology, TIME + 1)
                + ", \"earlier\": " + twice(topology, TIME - 1) + "}";
    }

    private int twice(Consumer<StreamsBuilder> topology, long second) {
        try (TopologyTestDriver driver = driver(topology)) {
            TestInputTopic<String, String> in = in(driver);
            in.pipeInput(KEY, VALUE, TIME);
            in.pipeInput(KEY, VALUE, second);
            return out(driver);
        }
    }

    /** The crash came after the store had the record and before its result was written: it is read once more. */
    private int readAgain() {
        try (TopologyTestDriver driver = driver(IdempotentUpdates::sourceTable)) {
            driver.<String, String>getTimestampedKeyValueStore(STORE).put(KEY, ValueAndTimestamp.make(VALUE, TIME));
            in(driver).pipeInput(KEY, VALUE, TIME);
            return out(driver);
        }
    }

    /** Two keys wait behind suppress for its limit to pass; a later update of one of them says that it has. */
    private int suppressed(String update) {
        try (TopologyTestDriver driver = driver(IdempotentUpdates::suppressedTable)) {
            TestInputTopic<String, String> in = in(driver);
            in.pipeInput("other key", VALUE, TIME);
            in.pipeInput(KEY, VALUE, TIME);
            in.pipeInput(KEY, update, BEYOND_THE_LIMIT);
            return out(driver);
        }
    }

    private TopologyTestDriver driver(Consumer<StreamsBuilder> topology) {
        Properties settings = new Properties();
        settings.setProperty(StreamsConfig.APPLICATION_ID_CONFIG, "updates");
        settings.setProperty(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:0");
        settings.setProperty(StreamsConfig.STATE_DIR_CONFIG, state);
        settings.setProperty(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class.getName());
        settings.setProperty(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class.getName());
        // No cache: it would keep back the first of two updates. The second name is the older one of the same setting.
        settings.setProperty("statestore.cache.max.bytes", "0");
        settings.setProperty("cache.max.bytes.buffering", "0");
        StreamsBuilder builder = new StreamsBuilder();
        topology.accept(builder);
        return new TopologyTestDriver(builder.build(settings), settings);
    }

    private static TestInputTopic<String, String> in(TopologyTestDriver driver) {
        return driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
    }

    private static int out(TopologyTestDriver driver) {
        return driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer())
                .readKeyValuesToList()
                .size();
    }
}
