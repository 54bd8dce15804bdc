package topologies.pairs;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.unbounded;
import static org.apache.kafka.streams.kstream.Suppressed.untilWindowCloses;

import java.time.Duration;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import topologies.Pair;
import topologies.Windows;

/** Code that compiles from 3.4 on. */
public final class NewerApi {

    /** Values within ten minutes of each other are counted together, instead of thirty. */
    public Pair slidingDifferenceMadeSmaller() {
        return Pair.of(
                builder -> sliding(builder, ofMinutes(30), ofMinutes(5)),
                builder -> sliding(builder, ofMinutes(10), ofMinutes(5)));
    }

    /** Late values of a sliding window are waited for longer. */
    public Pair slidingGraceMadeLonger() {
        return Pair.of(
                builder -> sliding(builder, ofMinutes(30), ofMinutes(5)),
                builder -> sliding(builder, ofMinutes(30), ofMinutes(15)));
    }

    /** Windows slide instead of lying side by side, in the store of the same name. */
    public Pair tumblingWindowToSlidingWindow() {
        return Pair.of(
                builder -> trades(builder)
                        .groupByKey(Grouped.as("by-symbol"))
                        .windowedBy(Windows.tumbling(ofMinutes(30), ofMinutes(5)))
                        .count(Named.as("count-trades"), Materialized.as("trades-store")),
                builder -> sliding(builder, ofMinutes(30), ofMinutes(5)));
    }

    /** A filter is put in front of a foreign-key join with a name. */
    public Pair filterBeforeNamedForeignKeyJoin() {
        return Pair.of(
                builder -> foreignKeyJoin(table(builder, "trades"), table(builder, "traders"), "trade-trader"),
                builder -> foreignKeyJoin(
                        table(builder, "trades").filter((id, trade) -> !trade.isEmpty(), Named.as("only-trades")),
                        table(builder, "traders"),
                        "trade-trader"));
    }

    /** The foreign-key join has another name, and so have its two topics. */
    public Pair foreignKeyJoinRenamed() {
        return Pair.of(
                builder -> foreignKeyJoin(table(builder, "trades"), table(builder, "traders"), "trade-trader"),
                builder -> foreignKeyJoin(table(builder, "trades"), table(builder, "traders"), "with-trader"));
    }

    /** The foreign-key join without a name gets one. */
    public Pair nameAddedToUnnamedForeignKeyJoin() {
        return Pair.of(
                builder -> table(builder, "trades")
                        .join(table(builder, "traders"), trade -> trade.split(",")[0], NewerApi::both,
                                Materialized.as("joined")),
                builder -> foreignKeyJoin(table(builder, "trades"), table(builder, "traders"), "trade-trader"));
    }

    /** A join by the key gives way to a join by a foreign key. */
    public Pair tableJoinToForeignKeyJoin() {
        return Pair.of(
                builder -> table(builder, "trades")
                        .join(table(builder, "traders"), NewerApi::both, Named.as("trade-trader"),
                                Materialized.as("joined")),
                builder -> foreignKeyJoin(table(builder, "trades"), table(builder, "traders"), "trade-trader"));
    }

    /** A join of a stream with itself gets along with one store. */
    public Pair namedSelfJoinOptimized() {
        return Pair.optimized("none", "single.store.self.join", NewerApi::namedSelfJoin);
    }

    /** A join of a stream with itself, without a name and in front of an unnamed count, gets along with one store. */
    public Pair unnamedSelfJoinOptimized() {
        return Pair.optimized("none", "single.store.self.join", NewerApi::unnamedSelfJoin);
    }

    /** The join of a stream with itself goes back to two stores. */
    public Pair namedSelfJoinOptimizationDisabled() {
        return Pair.optimized("single.store.self.join", "none", NewerApi::namedSelfJoin);
    }

    /** A filter on one side of a join of a stream with itself: the join keeps two stores from then on. */
    public Pair filterOnOneSideOfSelfJoin() {
        return Pair.of(
                NewerApi::namedSelfJoin,
                Pair.optimization("all"),
                builder -> {
                    KStream<String, String> trades = trades(builder);
                    trades.join(
                                    trades.filter((symbol, trade) -> !trade.isEmpty(), Named.as("full")),
                                    NewerApi::both,
                                    hour(),
                                    StreamJoined.<String, String, String>as("pair-store").withName("pair"))
                            .to("pairs", Produced.as("pairs-sink"));
                },
                Pair.optimization("all"));
    }

    /** The optimization of self-joins is switched on; the join is one of two streams. */
    public Pair selfJoinOptimizationEnabledForTwoStreams() {
        return Pair.optimized("none", "single.store.self.join", builder -> trades(builder)
                .join(
                        builder.<String, String>stream("quotes", Consumed.as("quotes-source")),
                        NewerApi::both,
                        hour(),
                        StreamJoined.<String, String, String>as("pair-store").withName("pair"))
                .to("pairs", Produced.as("pairs-sink")));
    }

    /** Of all optimizations, only the one of repartition topics stays switched on. */
    public Pair optimizationAllToMergeRepartitionTopics() {
        return Pair.optimized("all", "merge.repartition.topics", builder -> {
            twoCountsByOneKey(builder);
            table(builder, "traders").toStream(Named.as("changes")).to("traders-copy", Produced.as("traders-sink"));
        });
    }

    /** Besides the merging of repartition topics, the topic of the table becomes its changelog. */
    public Pair reuseAddedToMergeRepartitionTopics() {
        return Pair.optimized(
                "merge.repartition.topics", "merge.repartition.topics,reuse.ktable.source.topics", builder -> {
                    twoCountsByOneKey(builder);
                    table(builder, "traders").toStream(Named.as("changes"))
                            .to("traders-copy", Produced.as("traders-sink"));
                });
    }

    /** The topic of the table is its changelog no more; nothing else is optimized. */
    public Pair reuseOfTableTopicDisabled() {
        return Pair.optimized("reuse.ktable.source.topics", "none", builder -> table(builder, "traders")
                .toStream(Named.as("changes"))
                .to("traders-copy", Produced.as("traders-sink")));
    }

    /** The processor with a store wakes up every minute from now on. */
    public Pair punctuatorAdded() {
        return Pair.of(builder -> once(builder, false, 0), builder -> once(builder, true, 0));
    }

    /** The processor with a store takes another part of the record for the key that it looks up. */
    public Pair storedKeyChangedInsideProcessor() {
        return Pair.of(builder -> once(builder, false, 0), builder -> once(builder, false, 1));
    }

    /** Each window's result is written when it closes, by the count itself. */
    public Pair emitOnWindowClose() {
        return Pair.of(
                builder -> trades(builder)
                        .groupByKey(Grouped.as("by-symbol"))
                        .windowedBy(Windows.tumbling(ofHours(1), ofMinutes(5)))
                        .count(Named.as("count-trades"), Materialized.as("trades-store"))
                        .toStream(Named.as("changes"))
                        .to("trade-counts", Produced.as("out")),
                builder -> trades(builder)
                        .groupByKey(Grouped.as("by-symbol"))
                        .windowedBy(Windows.tumbling(ofHours(1), ofMinutes(5)))
                        .emitStrategy(EmitStrategy.onWindowClose())
                        .count(Named.as("count-trades"), Materialized.as("trades-store"))
                        .toStream(Named.as("changes"))
                        .to("trade-counts", Produced.as("out")));
    }

    /** Windows that cannot be late are waited for by a suppression. */
    public Pair namedSuppressAddedBehindWindowsWithNoGrace() {
        return Pair.of(
                builder -> trades(builder)
                        .groupByKey(Grouped.as("by-symbol"))
                        .windowedBy(TimeWindows.ofSizeWithNoGrace(ofHours(1)))
                        .count(Named.as("count-trades"), Materialized.as("trades-store"))
                        .toStream(Named.as("changes"))
                        .to("trade-counts", Produced.as("out")),
                builder -> trades(builder)
                        .groupByKey(Grouped.as("by-symbol"))
                        .windowedBy(TimeWindows.ofSizeWithNoGrace(ofHours(1)))
                        .count(Named.as("count-trades"), Materialized.as("trades-store"))
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))
                        .toStream(Named.as("changes"))
                        .to("trade-counts", Produced.as("out")));
    }

    /** The topology, which has a name, gets a filter. */
    public Pair filterAddedToTopologyWithName() {
        return Pair.of(
                () -> withName("trading", builder -> trades(builder).to("trades-copy", Produced.as("out"))),
                () -> withName("trading", builder -> trades(builder)
                        .filter((symbol, trade) -> !trade.isEmpty(), Named.as("only-trades"))
                        .to("trades-copy", Produced.as("out"))));
    }

    private static Topology withName(String name, Consumer<StreamsBuilder> code) {
        StreamsConfig settings = new StreamsConfig(Pair.optimization("none"));
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(name, settings, new Properties()));
        code.accept(builder);
        return builder.build();
    }

    private static KStream<String, String> trades(StreamsBuilder builder) {
        return builder.stream("trades", Consumed.as("trades-source"));
    }

    private static KTable<String, String> table(StreamsBuilder builder, String topic) {
        return builder.table(topic, Consumed.as(topic + "-table-source"), Materialized.as(topic + "-table"));
    }

    private static String both(String one, String other) {
        return one + "," + other;
    }

    private static JoinWindows hour() {
        return Windows.within(ofHours(1), ofMinutes(5));
    }

    private static void sliding(StreamsBuilder builder, Duration difference, Duration grace) {
        trades(builder)
                .groupByKey(Grouped.as("by-symbol"))
                .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(difference, grace))
                .count(Named.as("count-trades"), Materialized.as("trades-store"));
    }

    private static void foreignKeyJoin(KTable<String, String> trades, KTable<String, String> traders, String name) {
        trades.join(traders, trade -> trade.split(",")[0], NewerApi::both, TableJoined.as(name),
                Materialized.as("joined"));
    }

    private static void namedSelfJoin(StreamsBuilder builder) {
        KStream<String, String> trades = trades(builder);
        trades.join(trades, NewerApi::both, hour(), StreamJoined.<String, String, String>as("pair-store")
                .withName("pair"))
                .to("pairs", Produced.as("pairs-sink"));
    }

    private static void unnamedSelfJoin(StreamsBuilder builder) {
        KStream<String, String> trades = builder.stream("trades");
        trades.join(trades, NewerApi::both, hour()).groupByKey().count().toStream().to("pairs");
    }

    private static void twoCountsByOneKey(StreamsBuilder builder) {
        KStream<String, String> byTrader = trades(builder).selectKey((symbol, trade) -> trade, Named.as("trader-key"));
        byTrader.groupByKey(Grouped.as("all")).count(Named.as("all-count"), Materialized.as("all-store"));
        byTrader.groupByKey(Grouped.as("more"))
                .reduce(NewerApi::both, Named.as("more-reduce"), Materialized.as("more-store"));
    }

    private static void once(StreamsBuilder builder, boolean punctuated, int part) {
        builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore("trades-seen"), Serdes.String(), Serdes.String()));
        trades(builder)
                .process(() -> new Once(punctuated, part), Named.as("once"), "trades-seen")
                .to("trades-once", Produced.as("out"));
    }

    /** Lets a record through if its key has not been seen yet. */
    private static final class Once extends ContextualProcessor<String, String, String, String> {
        private final boolean punctuated;
        private final int part;

        private Once(boolean punctuated, int part) {
            this.punctuated = punctuated;
            this.part = part;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            if (punctuated) {
                context.schedule(Duration.ofMinutes(1), PunctuationType.WALL_CLOCK_TIME, now -> context.commit());
            }
        }

        @Override
        public void process(Record<String, String> trade) {
            KeyValueStore<String, String> seen = context().getStateStore("trades-seen");
            if (seen.putIfAbsent(trade.value().split(",")[part], trade.value()) == null) {
                context().forward(trade);
            }
        }
    }
}
