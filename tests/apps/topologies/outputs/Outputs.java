import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import kstreams.runbooks.facts.TopologyFacts;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.WallclockTimestampExtractor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Programs whose outputs are of each class (docs/compare_outputs.md); {@code Outputs FOLDER} writes the facts of each:
 *
 * <pre>java -cp topology_facts/target/topology-facts.jar:tests/apps/orders/target/releases/4.3.1/'*' \
 *     tests/apps/topologies/outputs/Outputs.java tests/apps/topologies/outputs</pre>
 */
public final class Outputs {
    private interface Program {
        void build(StreamsBuilder builder);
    }

    private static final Serde<String> TEXT = Serdes.String();
    private static final Duration TEN_S = Duration.ofSeconds(10);
    private static final TimeWindows WINDOWS = TimeWindows.ofSizeAndGrace(TEN_S, TEN_S);
    private static final JoinWindows JOINED = JoinWindows.ofTimeDifferenceAndGrace(TEN_S, TEN_S);

    private final Map<String, Program> programs = new LinkedHashMap<>();

    public static void main(String[] arguments) throws Exception {
        Outputs outputs = new Outputs();
        outputs.exact();
        outputs.byOrder();
        outputs.late();
        outputs.byClock();
        outputs.byCode();
        outputs.named();
        for (Map.Entry<String, Program> one : outputs.programs.entrySet()) {
            StreamsBuilder builder = new StreamsBuilder();
            one.getValue().build(builder);
            Properties settings = new Properties();
            settings.put("application.id", "app");
            settings.put("bootstrap.servers", "none:9092");
            Topology topology = builder.build(settings);
            Files.writeString(
                    Path.of(arguments[0], one.getKey() + ".facts.yaml"), TopologyFacts.yaml(topology, settings));
        }
    }

    // Each is made anew: a name that it gets would be that of all.
    private static Consumed<String, String> read() {
        return Consumed.with(TEXT, TEXT);
    }

    private static Produced<String, String> written() {
        return Produced.with(TEXT, TEXT);
    }

    private static Grouped<String, String> grouped() {
        return Grouped.with("regrouped", TEXT, TEXT);
    }

    private static KStream<String, String> in(StreamsBuilder builder) {
        return builder.stream("in", read());
    }

    private static KStream<String, String> other(StreamsBuilder builder) {
        return builder.stream("other", read());
    }

    private static KGroupedStream<String, String> regrouped(StreamsBuilder builder) {
        return in(builder).groupBy((key, value) -> value, grouped());
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> store(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name).withKeySerde(TEXT).withValueSerde(TEXT);
    }

    private static void out(KStream<String, ?> results) {
        results.mapValues(String::valueOf).to("out", written());
    }

    private static void outWindowed(KTable<Windowed<String>, Long> results) {
        results.toStream().mapValues(String::valueOf)
                .to("out", Produced.with(WindowedSerdes.timeWindowedSerdeFrom(String.class, 10_000L), TEXT));
    }

    private void exact() {
        programs.put("stream-as-it-comes", builder -> in(builder).filter((key, value) -> true).to("out", written()));
        programs.put("stream-peeked", builder -> {
            KStream<String, String> seen = in(builder).peek((key, value) -> {});
            seen.foreach((key, value) -> {});
            seen.to("out", written());
        });
        programs.put("table-filtered", builder -> builder.table("in", read(), store("table"))
                .filter((key, value) -> true)
                .toStream()
                .to("out", written()));
        programs.put("count-of-each-key", builder -> out(in(builder).groupByKey().count().toStream()));
        programs.put("count-regrouped", builder -> out(regrouped(builder).count().toStream()));
        programs.put("aggregate-in-order", builder -> out(in(builder)
                .groupByKey()
                .aggregate(() -> "", (key, value, before) -> value, store("last"))
                .toStream()));
        programs.put("table-regrouped-count", builder -> out(builder.table("in", read(), store("table"))
                .groupBy((key, value) -> KeyValue.pair(value, key), grouped())
                .count()
                .toStream()));
        programs.put("tables-joined", builder -> out(builder.table("in", read(), store("table"))
                .leftJoin(builder.table("other", read(), store("others")), (one, other) -> one + other, store("both"))
                .toStream()));
        programs.put("tables-joined-by-foreign-key", builder -> out(builder.table("in", read(), store("table"))
                .join(builder.table("other", read(), store("others")), value -> value, (one, other) -> one + other,
                        store("both"))
                .toStream()));
    }

    private void byOrder() {
        programs.put("stream-with-new-key", builder -> in(builder).selectKey((key, value) -> value).to("out", written()));
        programs.put("streams-merged", builder -> in(builder).merge(other(builder)).to("out", written()));
        programs.put("aggregate-regrouped", builder -> out(regrouped(builder)
                .aggregate(() -> "", (key, value, before) -> value, store("last"))
                .toStream()));
        programs.put("reduce-regrouped", builder -> out(regrouped(builder)
                .reduce((before, value) -> value, store("last"))
                .toStream()));
        programs.put("table-of-regrouped-stream", builder -> in(builder)
                .selectKey((key, value) -> value)
                .repartition(Repartitioned.with(TEXT, TEXT))
                .toTable(store("table"))
                .toStream()
                .to("out", written()));
        programs.put("count-with-new-key", builder -> regrouped(builder)
                .count()
                .toStream()
                .map((key, count) -> KeyValue.pair(String.valueOf(count), key))
                .to("out", written()));
        programs.put("aggregate-of-merged-streams", builder -> out(in(builder)
                .merge(other(builder))
                .groupByKey()
                .aggregate(() -> "", (key, value, before) -> value, store("last"))
                .toStream()));
        programs.put("count-of-merged-streams", builder -> out(in(builder)
                .merge(other(builder))
                .groupByKey()
                .count()
                .toStream()));
        programs.put("table-regrouped-aggregate", builder -> out(builder.table("in", read(), store("table"))
                .groupBy((key, value) -> KeyValue.pair(value, key), grouped())
                .aggregate(() -> "", (key, value, all) -> value, (key, value, all) -> all, store("last"))
                .toStream()));
        programs.put("two-sinks-of-one-topic", builder -> {
            in(builder).to("out", written());
            other(builder).to("out", written());
        });
        programs.put("pattern-of-topics", builder -> builder.stream(java.util.regex.Pattern.compile("in-.*"), read())
                .to("out", written()));
    }

    private void late() {
        programs.put("window-count", builder -> outWindowed(regrouped(builder).windowedBy(WINDOWS).count()));
        programs.put("window-count-with-new-key", builder -> out(regrouped(builder)
                .windowedBy(WINDOWS)
                .count()
                .toStream((window, count) -> window.toString())));
        programs.put("window-count-in-order", builder -> outWindowed(
                in(builder).groupByKey().windowedBy(WINDOWS).count()));
        programs.put("session-count", builder -> regrouped(builder)
                .windowedBy(SessionWindows.ofInactivityGapAndGrace(TEN_S, TEN_S))
                .count()
                .toStream()
                .mapValues(String::valueOf)
                .to("out", Produced.with(WindowedSerdes.sessionWindowedSerdeFrom(String.class), TEXT)));
        programs.put("sliding-count", builder -> outWindowed(regrouped(builder)
                .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(TEN_S, TEN_S))
                .count()));
        programs.put("window-count-suppressed", builder -> outWindowed(regrouped(builder)
                .windowedBy(WINDOWS)
                .count()
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("closed"))));
        programs.put("count-suppressed-for-a-time", builder -> out(regrouped(builder)
                .count()
                .suppress(Suppressed.untilTimeLimit(TEN_S, Suppressed.BufferConfig.unbounded()))
                .toStream()));
        programs.put("streams-joined", builder -> out(in(builder)
                .join(other(builder), (one, other) -> one + other, JOINED, StreamJoined.with(TEXT, TEXT, TEXT))));
        programs.put("table-joined-by-stream", builder -> out(in(builder)
                .join(builder.table("other", read(), store("others")), (one, other) -> one + other,
                        Joined.with(TEXT, TEXT, TEXT))));
        programs.put("table-left-joined-by-stream", builder -> out(in(builder)
                .leftJoin(builder.table("other", read(), store("others")), (one, other) -> one + other,
                        Joined.with(TEXT, TEXT, TEXT))));
        programs.put("versioned-table", builder -> builder.table("in", read(),
                        Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("versions", TEN_S))
                                .withKeySerde(TEXT)
                                .withValueSerde(TEXT))
                .toStream()
                .to("out", written()));
        programs.put("count-next-to-window", builder -> {
            KGroupedStream<String, String> grouped = regrouped(builder);
            out(grouped.count().toStream());
            grouped.windowedBy(WINDOWS)
                    .count()
                    .toStream((window, count) -> window.toString())
                    .mapValues(String::valueOf)
                    .to("windows", written());
        });
        programs.put("count-behind-window", builder -> out(regrouped(builder)
                .windowedBy(WINDOWS)
                .count()
                .toStream((window, count) -> window.key())
                .mapValues(String::valueOf)
                .groupByKey(Grouped.with("again", TEXT, TEXT))
                .count()
                .toStream()));
    }

    private void byClock() {
        programs.put("streams-left-joined", builder -> out(in(builder)
                .leftJoin(other(builder), (one, other) -> one + other, JOINED, StreamJoined.with(TEXT, TEXT, TEXT))));
        programs.put("streams-outer-joined", builder -> out(in(builder)
                .outerJoin(other(builder), (one, other) -> one + other, JOINED, StreamJoined.with(TEXT, TEXT, TEXT))));
        programs.put("window-emitted-on-close", builder -> outWindowed(regrouped(builder)
                .windowedBy(WINDOWS)
                .emitStrategy(EmitStrategy.onWindowClose())
                .count()));
        programs.put("window-of-wall-clock", builder -> outWindowed(builder
                .stream("in", read().withTimestampExtractor(new WallclockTimestampExtractor()))
                .groupBy((key, value) -> value, grouped())
                .windowedBy(WINDOWS)
                .count()));
        programs.put("count-of-wall-clock", builder -> out(builder
                .stream("in", read().withTimestampExtractor(new WallclockTimestampExtractor()))
                .groupBy((key, value) -> value, grouped())
                .count()
                .toStream()));
        programs.put("global-table-joined", builder -> out(in(builder)
                .join(builder.globalTable("other", read(), store("others")), (key, value) -> value,
                        (one, other) -> one + other)));
    }

    private void byCode() {
        programs.put("processor", builder -> in(builder)
                .process(() -> new Own<String>())
                .to("out", written()));
        programs.put("processor-of-fixed-key", builder -> in(builder)
                .processValues(() -> new OwnValues())
                .to("out", written()));
        programs.put("processor-in-other-branch", builder -> {
            KStream<String, String> in = in(builder);
            in.process(() -> new Own<String>()).to("processed", written());
            in.to("out", written());
        });
        programs.put("processor-before-count", builder -> out(in(builder)
                .process(() -> new Own<String>())
                .groupByKey(grouped())
                .count()
                .toStream()));
        programs.put("table-transformed", builder -> builder.table("in", read(), store("table"))
                .transformValues(() -> new ValueTransformerWithKey<String, String, String>() {
                    @Override
                    public void init(org.apache.kafka.streams.processor.ProcessorContext context) {}

                    @Override
                    public String transform(String key, String value) {
                        return value;
                    }

                    @Override
                    public void close() {}
                })
                .toStream()
                .to("out", written()));
        programs.put("named-table-transformed", builder -> builder.table("in", read().withName("read"), store("table"))
                .transformValues(
                        () -> new ValueTransformerWithKey<String, String, String>() {
                            @Override
                            public void init(org.apache.kafka.streams.processor.ProcessorContext context) {}

                            @Override
                            public String transform(String key, String value) {
                                return value;
                            }

                            @Override
                            public void close() {}
                        },
                        Named.as("transformed"))
                .toStream(Named.as("table-stream"))
                .to("out", written().withName("written")));
        programs.put("count-in-lru-map", builder -> out(in(builder)
                .groupByKey()
                .<Long>aggregate(() -> 0L, (key, value, count) -> count + 1,
                        Materialized.<String, Long>as(Stores.lruMap("few", 100))
                                .withKeySerde(TEXT)
                                .withValueSerde(Serdes.Long()))
                .toStream()));
    }

    /** With a name for each operator: names show nothing. */
    private void named() {
        programs.put("named-count", builder -> builder.stream("in", read().withName("read"))
                .groupBy((key, value) -> value, Grouped.with("by-value", TEXT, TEXT))
                .count(Named.as("counted"), Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                        .withKeySerde(TEXT)
                        .withValueSerde(Serdes.Long()))
                .toStream(Named.as("counts-stream"))
                .mapValues(String::valueOf, Named.as("counts-text"))
                .to("out", written().withName("written")));
        programs.put("named-count-with-new-key", builder -> builder.stream("in", read().withName("read"))
                .groupBy((key, value) -> value, Grouped.with("by-value", TEXT, TEXT))
                .count(Named.as("counted"), Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                        .withKeySerde(TEXT)
                        .withValueSerde(Serdes.Long()))
                .toStream(Named.as("counts-stream"))
                .map((key, count) -> KeyValue.pair(String.valueOf(count), key), Named.as("counts-turned"))
                .to("out", written().withName("written")));
        programs.put("named-new-key", builder -> builder.stream("in", read().withName("read"))
                .selectKey((key, value) -> value, Named.as("by-value"))
                .to("out", written().withName("written")));
        programs.put("named-aggregate-in-order", builder -> builder.stream("in", read().withName("read"))
                .groupByKey(Grouped.with("by-key", TEXT, TEXT))
                .aggregate(() -> "", (key, value, before) -> value, Named.as("last-one"), store("last"))
                .toStream(Named.as("last-stream"))
                .to("out", written().withName("written")));
        programs.put("named-aggregate-regrouped", builder -> builder.stream("in", read().withName("read"))
                .groupBy((key, value) -> value, Grouped.with("by-value", TEXT, TEXT))
                .aggregate(() -> "", (key, value, before) -> value, Named.as("last-one"), store("last"))
                .toStream(Named.as("last-stream"))
                .to("out", written().withName("written")));
        programs.put("named-lookup", builder -> builder.stream("in", read().withName("read"))
                .join(builder.table("other", read().withName("others-read"), store("others")),
                        (one, other) -> one + other, Joined.with(TEXT, TEXT, TEXT, "looked-up"))
                .to("out", written().withName("written")));
        programs.put("named-global-lookup", builder -> builder.stream("in", read().withName("read"))
                .join(builder.globalTable("other", read().withName("others-read"), store("others")),
                        (key, value) -> value, (one, other) -> one + other, Named.as("looked-up"))
                .to("out", written().withName("written")));
        programs.put("named-tables-joined", builder -> builder.table("in", read().withName("read"), store("table"))
                .outerJoin(builder.table("other", read().withName("others-read"), store("others")),
                        (one, other) -> one + other, Named.as("both-joined"), store("both"))
                .toStream(Named.as("both-stream"))
                .to("out", written().withName("written")));
        programs.put("named-tables-joined-by-foreign-key", builder -> builder
                .table("in", read().withName("read"), store("table"))
                .leftJoin(builder.table("other", read().withName("others-read"), store("others")), value -> value,
                        (one, other) -> one + other, TableJoined.as("enriched"), store("both"))
                .toStream(Named.as("both-stream"))
                .to("out", written().withName("written")));
        programs.put("named-streams-left-joined", builder -> builder.stream("in", read().withName("read"))
                .leftJoin(builder.stream("other", read().withName("others-read")), (one, other) -> one + other, JOINED,
                        StreamJoined.with(TEXT, TEXT, TEXT).withName("met").withStoreName("met"))
                .to("out", written().withName("written")));
        programs.put("named-streams-joined", builder -> builder.stream("in", read().withName("read"))
                .join(builder.stream("other", read().withName("others-read")), (one, other) -> one + other, JOINED,
                        StreamJoined.with(TEXT, TEXT, TEXT).withName("met").withStoreName("met"))
                .to("out", written().withName("written")));
        programs.put("named-processor", builder -> builder.stream("in", read().withName("read"))
                .process(() -> new Own<String>(), Named.as("own"))
                .to("out", written().withName("written")));
        programs.put("named-table-regrouped-count", builder -> builder.table("in", read().withName("read"), store("table"))
                .groupBy((key, value) -> KeyValue.pair(value, key), Grouped.with("by-value", TEXT, TEXT))
                .count(Named.as("counted"), Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                        .withKeySerde(TEXT)
                        .withValueSerde(Serdes.Long()))
                .toStream(Named.as("counts-stream"))
                .mapValues(String::valueOf, Named.as("counts-text"))
                .to("out", written().withName("written")));
        programs.put("named-updates-counted", builder -> builder.table("in", read().withName("read"), store("table"))
                .toStream(Named.as("updates"))
                .groupBy((key, value) -> value, Grouped.with("by-value", TEXT, TEXT))
                .count(Named.as("counted"), Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                        .withKeySerde(TEXT)
                        .withValueSerde(Serdes.Long()))
                .toStream(Named.as("counts-stream"))
                .mapValues(String::valueOf, Named.as("counts-text"))
                .to("out", written().withName("written")));
        programs.put("topics-of-one-source", builder -> builder.stream(java.util.List.of("in", "other"), read())
                .to("out", written()));
        programs.put("cogrouped", builder -> out(in(builder).groupByKey()
                .<String>cogroup((key, value, before) -> value)
                .cogroup(other(builder).groupByKey(), (key, value, before) -> value)
                .aggregate(() -> "", store("last"))
                .toStream()));
        programs.put("table-regrouped-without-name", builder -> out(builder.table("in", read(), store("table"))
                .groupBy((key, value) -> KeyValue.pair(value, key), Grouped.with(TEXT, TEXT))
                .reduce((one, other) -> one, (one, other) -> other, store("last"))
                .toStream()));
        programs.put("updates-of-lookup", builder -> {
            KTable<String, String> last = regrouped(builder)
                    .aggregate(() -> "", (key, value, before) -> value, store("last"));
            out(other(builder).leftJoin(last, (one, value) -> one + value, Joined.with(TEXT, TEXT, TEXT)));
        });
    }

    private static final class Own<V> implements Processor<String, V, String, V> {
        private ProcessorContext<String, V> context;

        @Override
        public void init(ProcessorContext<String, V> context) {
            this.context = context;
        }

        @Override
        public void process(Record<String, V> record) {
            context.forward(record);
        }
    }

    private static final class OwnValues implements FixedKeyProcessor<String, String, String> {
        private FixedKeyProcessorContext<String, String> context;

        @Override
        public void init(FixedKeyProcessorContext<String, String> context) {
            this.context = context;
        }

        @Override
        public void process(FixedKeyRecord<String, String> record) {
            context.forward(record);
        }
    }
}
