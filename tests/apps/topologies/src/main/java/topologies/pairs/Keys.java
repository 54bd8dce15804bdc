package topologies.pairs;

import java.time.Duration;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KeyValueMapper;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;
import topologies.Windows;

/** Other keys: in front of a store, in the output, without any state. */
public final class Keys {

    /** A selectKey in front of the count computes another key than before. */
    public Pair selectKeyComputesOtherKeyBeforeCount() {
        return Pair.of(
                builder -> count(visits(builder).selectKey((id, visit) -> visit, Named.as("key"))),
                builder -> count(visits(builder).selectKey((id, visit) -> visit.toLowerCase(), Named.as("key"))));
    }

    /** The key of a groupBy is computed in another way that gives the same key for every record. */
    public Pair groupByKeyComputedInEqualWay() {
        return Pair.of(
                builder -> grouped(builder, (id, visit) -> visit.split(",")[0]),
                builder -> grouped(builder, (id, visit) -> visit.substring(0, (visit + ",").indexOf(','))));
    }

    /** The key of a groupBy is another field. */
    public Pair groupByComputesOtherKey() {
        return Pair.of(
                builder -> grouped(builder, (id, visit) -> visit.split(",")[0]),
                builder -> grouped(builder, (id, visit) -> visit.split(",")[1]));
    }

    /** A selectKey is put in front of a count; the topic had the key until now. */
    public Pair selectKeyAddedBeforeCount() {
        return Pair.of(
                builder -> count(visits(builder)),
                builder -> count(visits(builder).selectKey((id, visit) -> visit, Named.as("key"))));
    }

    /** A mapValues is put where the key is not touched, in front of a count. */
    public Pair mapValuesAddedBeforeCount() {
        return Pair.of(
                builder -> count(visits(builder)),
                builder -> count(visits(builder).mapValues(visit -> visit.trim(), Named.as("trim"))));
    }

    /** Another key in front of a count per hour: what is wrong ends with the window. */
    public Pair selectKeyComputesOtherKeyBeforeWindowedCount() {
        return Pair.of(
                builder -> countPerHour(visits(builder).selectKey((id, visit) -> visit, Named.as("key"))),
                builder -> countPerHour(visits(builder)
                        .selectKey((id, visit) -> visit.toLowerCase(), Named.as("key"))));
    }

    /** A selectKey is put behind the count: the output has other keys. */
    public Pair selectKeyAddedBehindCount() {
        return Pair.of(
                builder -> counts(visits(builder)).to("visit-counts", Produced.as("visit-counts-sink")),
                builder -> counts(visits(builder))
                        .selectKey((page, count) -> page.toLowerCase(), Named.as("output-key"))
                        .to("visit-counts", Produced.as("visit-counts-sink")));
    }

    /** The selectKey behind the count computes another key. */
    public Pair selectKeyComputesOtherKeyBehindCount() {
        return Pair.of(
                builder -> counts(visits(builder))
                        .selectKey((page, count) -> page.toLowerCase(), Named.as("output-key"))
                        .to("visit-counts", Produced.as("visit-counts-sink")),
                builder -> counts(visits(builder))
                        .selectKey((page, count) -> "visits/" + page, Named.as("output-key"))
                        .to("visit-counts", Produced.as("visit-counts-sink")));
    }

    /** What is written of each count is another value, under the same key. */
    public Pair mapValuesAddedBehindCount() {
        return Pair.of(
                builder -> counts(visits(builder)).to("visit-counts", Produced.as("visit-counts-sink")),
                builder -> counts(visits(builder))
                        .mapValues(count -> 10 * count, Named.as("scaled"))
                        .to("visit-counts", Produced.as("visit-counts-sink")));
    }

    /** An application without state gives its records another key. */
    public Pair selectKeyAddedWithoutState() {
        return Pair.of(
                builder -> visits(builder).to("visits-by-page", Produced.as("visits-sink")),
                builder -> visits(builder)
                        .selectKey((id, visit) -> visit, Named.as("key"))
                        .to("visits-by-page", Produced.as("visits-sink")));
    }

    /** The selectKey of an application without state computes another key. */
    public Pair selectKeyComputesOtherKeyWithoutState() {
        return Pair.of(
                builder -> visits(builder)
                        .selectKey((id, visit) -> visit, Named.as("key"))
                        .to("visits-by-page", Produced.as("visits-sink")),
                builder -> visits(builder)
                        .selectKey((id, visit) -> visit.toLowerCase(), Named.as("key"))
                        .to("visits-by-page", Produced.as("visits-sink")));
    }

    /** A branch without state gets another key; the count on the other branch does not see it. */
    public Pair selectKeyAddedOnBranchWithoutState() {
        return Pair.of(
                builder -> {
                    KStream<String, String> visits = visits(builder);
                    count(visits);
                    visits.filter((id, visit) -> visit.isEmpty(), Named.as("odd"))
                            .to("odd-visits", Produced.as("odd-visits-sink"));
                },
                builder -> {
                    KStream<String, String> visits = visits(builder);
                    count(visits);
                    visits.filter((id, visit) -> visit.isEmpty(), Named.as("odd"))
                            .selectKey((id, visit) -> "odd", Named.as("odd-key"))
                            .to("odd-visits", Produced.as("odd-visits-sink"));
                });
    }

    private static KStream<String, String> visits(StreamsBuilder builder) {
        return builder.stream("visits", Consumed.as("visits-source"));
    }

    private static KStream<String, Long> counts(KStream<String, String> visits) {
        return visits.groupByKey(Grouped.as("by-key"))
                .count(Named.as("count-visits"), Materialized.as("visits-store"))
                .toStream(Named.as("visit-counts"));
    }

    private static void count(KStream<String, String> visits) {
        counts(visits).to("visit-counts", Produced.as("visit-counts-sink"));
    }

    private static void grouped(StreamsBuilder builder, KeyValueMapper<String, String, String> key) {
        visits(builder)
                .groupBy(key, Grouped.as("by-page"))
                .count(Named.as("count-visits"), Materialized.as("visits-store"))
                .toStream(Named.as("visit-counts"))
                .to("visit-counts", Produced.as("visit-counts-sink"));
    }

    private static void countPerHour(KStream<String, String> visits) {
        visits.groupByKey(Grouped.as("by-key"))
                .windowedBy(Windows.tumbling(Duration.ofHours(1), Duration.ofMinutes(5)))
                .count(Named.as("count-visits"), Materialized.as("visits-store"))
                .toStream(Named.as("visit-counts"))
                .to("visit-counts", Produced.as("visit-counts-sink"));
    }
}
