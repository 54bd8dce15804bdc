package topologies.pairs;

import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;

/** What the compiler of the DSL makes of one and the same code, with and without optimization. */
public final class Optimizations {

    /** Optimization is switched on for a table with a named store: its topic is the changelog from then on. */
    public Pair optimizationEnabledForNamedTable() {
        return Pair.optimized("none", "all", Optimizations::namedTable);
    }

    /** Optimization is switched off again for a table with a named store. */
    public Pair optimizationDisabledForNamedTable() {
        return Pair.optimized("all", "none", Optimizations::namedTable);
    }

    /** Optimization is switched on for a table without a name. */
    public Pair optimizationEnabledForUnnamedTable() {
        return Pair.optimized("none", "all", builder -> builder.<String, String>table("users")
                .filter((user, value) -> !value.isEmpty())
                .groupBy((user, value) -> KeyValue.pair(value, user))
                .count()
                .toStream()
                .to("users-per-value"));
    }

    /** Optimization is switched on for an application that has nothing to optimize. */
    public Pair optimizationEnabledWithoutEffect() {
        return Pair.optimized("none", "all", builder -> count(users(builder), "count", "count-store"));
    }

    /** Two repartition topics behind one selectKey become one. */
    public Pair repartitionTopicsMergedByOptimization() {
        return Pair.optimized("none", "all", Optimizations::twoNamedCountsByOneKey);
    }

    /** The one repartition topic behind a selectKey becomes two again. */
    public Pair repartitionTopicsSplitByOptimizationOff() {
        return Pair.optimized("all", "none", Optimizations::twoNamedCountsByOneKey);
    }

    /** Two repartition topics of unnamed counts become one. */
    public Pair unnamedRepartitionTopicsMergedByOptimization() {
        return Pair.optimized("none", "all", builder -> {
            KStream<String, String> byValue = builder.<String, String>stream("users").selectKey((user, value) -> value);
            byValue.groupByKey().count().toStream().to("users-per-value");
            byValue.groupByKey().reduce((one, other) -> one + other).toStream().to("all-per-value");
        });
    }

    /** The setting says all, the code builds without it: build() does not get the settings. */
    public Pair optimizationSetButSettingsNotPassed() {
        return Pair.of(Optimizations::twoNamedCountsByOneKey, Optimizations::twoNamedCountsByOneKey);
    }

    /** The same setting, and the code passes it: the repartition topics stay merged. */
    public Pair optimizationKeptAndPassed() {
        return Pair.optimized("all", "all", Optimizations::twoNamedCountsByOneKey);
    }

    /** The table, whose topic is its changelog, reads another topic. */
    public Pair tableTopicReplacedWithSourceAsChangelog() {
        return Pair.of(
                builder -> namedTable(builder, "users"), Pair.optimization("all"),
                builder -> namedTable(builder, "users-v2"), Pair.optimization("all"));
    }

    /** The table, which has a changelog of its own, reads another topic. */
    public Pair tableTopicReplacedWithOwnChangelog() {
        return Pair.of(
                builder -> namedTable(builder, "users"), Pair.optimization("none"),
                builder -> namedTable(builder, "users-v2"), Pair.optimization("none"));
    }

    private static void namedTable(StreamsBuilder builder) {
        namedTable(builder, "users");
    }

    private static void namedTable(StreamsBuilder builder, String topic) {
        builder.<String, String>table(topic, Consumed.as("users-source"), Materialized.as("users-store"))
                .toStream(Named.as("user-changes"))
                .to("users-copy", Produced.as("users-sink"));
    }

    private static KStream<String, String> users(StreamsBuilder builder) {
        return builder.stream("users", Consumed.as("users-source"));
    }

    private static void twoNamedCountsByOneKey(StreamsBuilder builder) {
        KStream<String, String> byValue = users(builder).selectKey((user, value) -> value, Named.as("value-key"));
        count(byValue, "all", "all-store");
        count(byValue.filter((value, user) -> value.length() > 3, Named.as("long")), "long", "long-store");
    }

    private static void count(KStream<String, String> stream, String name, String store) {
        stream.groupByKey(Grouped.as(name + "-grouped")).count(Named.as(name + "-count"), Materialized.as(store));
    }
}
