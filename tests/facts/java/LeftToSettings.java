import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.WindowedSerdes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;

/** Programs that leave serdes to their settings, and one with a builder of its own; the code is that of any release. */
public final class LeftToSettings {
    private LeftToSettings() {}

    /** Prints what the library gives a program without a default serde. */
    public static void main(String[] arguments) {
        Properties given = new Properties();
        given.put("application.id", "app");
        given.put("bootstrap.servers", "none:0");
        try {
            System.out.println(new StreamsConfig(given).defaultValueSerde().getClass().getSimpleName());
        } catch (RuntimeException refused) {
            System.out.println(refused.getMessage());
        }
    }

    /** Sinks and a source without one of their serdes, next to those that have both, also by inheritance. */
    public static Topology ends() {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> all = builder.stream("all", with("all-in"));
        all.mapValues(value -> value, Named.as("mapped")).to("values", Produced.<String, String>as("values-out"));
        all.to("own", Produced.<String, String>as("own-out"));
        builder.stream("keys", Consumed.<String, String>as("keys-in").withValueSerde(Serdes.String()))
                .to("given", Produced.with(Serdes.String(), Serdes.String()).withName("given-out"));
        return builder.build();
    }

    /** A count inherits its serdes from the grouping, and a repartition with another key has none. */
    public static Topology counts() {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> all = builder.stream("all", with("all-in"));
        all.groupByKey(Grouped.with("same", Serdes.String(), Serdes.String())).count(Named.as("of-same"));
        all.groupBy((key, value) -> value, Grouped.with("other", null, Serdes.String())).count(Named.as("of-other"));
        return builder.build();
    }

    /** A foreign-key join hashes the values of its left table, whose serde a mapping drops. */
    public static Topology foreignKeys() {
        StreamsBuilder builder = new StreamsBuilder();
        KTable<String, String> left = builder.table("left", with("left-in"));
        KTable<String, String> right = builder.table("right", with("right-in"));
        left.mapValues(value -> value, Named.as("mapped"))
                .join(right, value -> value, (one, other) -> one)
                .toStream()
                .foreach((key, value) -> {});
        return builder.build();
    }

    /** A windowed serde takes the one inside it from a setting of its own. */
    public static Topology windowed() {
        StreamsBuilder builder = new StreamsBuilder();
        Serde<?> keys = new WindowedSerdes.TimeWindowedSerde<String>();
        builder.stream("windows", Consumed.with(keys, Serdes.String()).withName("windows-in"));
        return builder.build();
    }

    /** A builder of the program says that logging is on. */
    public static Topology ownBuilder() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(new Fast());
        builder.stream("all", with("all-in"));
        return builder.build();
    }

    private static Consumed<String, String> with(String name) {
        return Consumed.with(Serdes.String(), Serdes.String()).withName(name);
    }

    static final class Fast implements StoreBuilder<KeyValueStore<String, Long>> {
        @Override
        public StoreBuilder<KeyValueStore<String, Long>> withCachingEnabled() {
            return this;
        }

        @Override
        public StoreBuilder<KeyValueStore<String, Long>> withCachingDisabled() {
            return this;
        }

        @Override
        public StoreBuilder<KeyValueStore<String, Long>> withLoggingEnabled(Map<String, String> config) {
            return this;
        }

        @Override
        public StoreBuilder<KeyValueStore<String, Long>> withLoggingDisabled() {
            return this;
        }

        @Override
        public KeyValueStore<String, Long> build() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Map<String, String> logConfig() {
            return Collections.emptyMap();
        }

        @Override
        public boolean loggingEnabled() {
            return true;
        }

        @Override
        public String name() {
            return "fast";
        }
    }
}
