package topologies.pairs;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.maxRecords;
import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.unbounded;
import static org.apache.kafka.streams.kstream.Suppressed.untilTimeLimit;
import static org.apache.kafka.streams.kstream.Suppressed.untilWindowCloses;

import java.time.Duration;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Windowed;
import topologies.Pair;
import topologies.Windows;

/** Results that are held back until they are final. */
public final class Suppression {

    /** A suppression with a name is put behind the count. */
    public Pair namedSuppressAdded() {
        return Pair.of(
                builder -> out(counts(builder)),
                builder -> out(counts(builder).suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** A suppression without a name is put behind the named count; nothing behind it has a generated name. */
    public Pair unnamedSuppressAdded() {
        return Pair.of(
                builder -> out(counts(builder)),
                builder -> out(counts(builder).suppress(untilWindowCloses(unbounded()))));
    }

    /** A suppression without a name is put right next to one with the same limit: which of them is new is all one. */
    public Pair unnamedSuppressAddedNextToSameSuppress() {
        return Pair.of(
                builder -> out(plain(builder).suppress(untilTimeLimit(ofMinutes(10), unbounded()))),
                builder -> out(plain(builder)
                        .suppress(untilTimeLimit(ofMinutes(10), unbounded()))
                        .suppress(untilTimeLimit(ofMinutes(10), unbounded()))));
    }

    /** A suppression without a name is put behind another table, which the program makes first. */
    public Pair unnamedSuppressAddedBehindEarlierTable() {
        return Pair.of(
                builder -> {
                    visits(visited(builder));
                    out(plain(builder).suppress(untilTimeLimit(ofMinutes(10), unbounded())));
                },
                builder -> {
                    visits(visited(builder).suppress(untilTimeLimit(ofMinutes(10), unbounded())));
                    out(plain(builder).suppress(untilTimeLimit(ofMinutes(10), unbounded())));
                });
    }

    /** A suppression without a name is put in front of an unnamed count. */
    public Pair unnamedSuppressAddedBeforeUnnamedCount() {
        return Pair.of(
                builder -> countUnnamed(countsUnnamed(builder)),
                builder -> countUnnamed(countsUnnamed(builder).suppress(untilWindowCloses(unbounded()))));
    }

    /** A suppression with a name is put in front of an unnamed count. */
    public Pair namedSuppressAddedBeforeUnnamedCount() {
        return Pair.of(
                builder -> countUnnamed(countsUnnamed(builder)),
                builder -> countUnnamed(
                        countsUnnamed(builder).suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** The suppression with a name is removed; what it holds back is never written. */
    public Pair namedSuppressRemoved() {
        return Pair.of(
                builder -> out(counts(builder).suppress(untilWindowCloses(unbounded()).withName("final-only"))),
                builder -> out(counts(builder)));
    }

    /** The suppression without a name is removed. */
    public Pair unnamedSuppressRemoved() {
        return Pair.of(
                builder -> out(counts(builder).suppress(untilWindowCloses(unbounded()))),
                builder -> out(counts(builder)));
    }

    /** The suppression is disabled: it stays in place and holds nothing back. */
    public Pair suppressDisabled() {
        return suppressions(
                untilWindowCloses(unbounded()).withName("final-only"),
                Suppressed.<Windowed<String>>untilTimeLimit(Duration.ZERO, unbounded()).withName("final-only"));
    }

    /** The suppression without a name is disabled: it stays in place and holds nothing back. */
    public Pair unnamedSuppressDisabled() {
        return suppressions(untilWindowCloses(unbounded()), untilTimeLimit(Duration.ZERO, unbounded()));
    }

    /** Results wait for the end of their window instead of ten minutes. */
    public Pair suppressTimeLimitToWindowCloses() {
        return suppressions(
                Suppressed.<Windowed<String>>untilTimeLimit(ofMinutes(10), unbounded()).withName("final-only"),
                untilWindowCloses(unbounded()).withName("final-only"));
    }

    /** The memory of the suppression gets a bound. */
    public Pair suppressBufferBounded() {
        return suppressions(
                untilWindowCloses(unbounded()).withName("final-only"),
                untilWindowCloses(maxRecords(10_000).shutDownWhenFull()).withName("final-only"));
    }

    /** A full buffer gives out its oldest results instead of ending the application. */
    public Pair suppressEmitsEarlyWhenFull() {
        return suppressions(
                Suppressed.<Windowed<String>>untilTimeLimit(ofMinutes(10), maxRecords(10_000).shutDownWhenFull())
                        .withName("final-only"),
                Suppressed.<Windowed<String>>untilTimeLimit(ofMinutes(10), maxRecords(10_000).emitEarlyWhenFull())
                        .withName("final-only"));
    }

    /** The suppression without a name gets one: its old buffer is left behind. */
    public Pair nameAddedToUnnamedSuppress() {
        return suppressions(
                untilWindowCloses(unbounded()), untilWindowCloses(unbounded()).withName("final-only"));
    }

    /** The suppression has another name. */
    public Pair suppressRenamed() {
        return suppressions(
                untilWindowCloses(unbounded()).withName("final-only"),
                untilWindowCloses(unbounded()).withName("closed-windows"));
    }

    /** A filter is put behind the suppression. */
    public Pair filterBehindNamedSuppress() {
        return Pair.of(
                builder -> out(counts(builder).suppress(untilWindowCloses(unbounded()).withName("final-only"))),
                builder -> out(counts(builder)
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))
                        .filter((window, count) -> count > 1, Named.as("more-than-one"))));
    }

    /** A filter is put in front of a suppression without a name. */
    public Pair filterBeforeUnnamedSuppress() {
        return Pair.of(
                builder -> out(counts(builder).suppress(untilWindowCloses(unbounded()))),
                builder -> out(counts(builder)
                        .filter((window, count) -> count > 1, Named.as("more-than-one"))
                        .suppress(untilWindowCloses(unbounded()))));
    }

    /** A filter in front of a suppression gets a store. */
    public Pair filterBeforeSuppressMaterialized() {
        return Pair.of(
                builder -> out(plain(builder)
                        .filter((host, count) -> count > 1, Named.as("more-than-one"))
                        .suppress(minutes())),
                builder -> out(plain(builder)
                        .filter((host, count) -> count > 1, Named.as("more-than-one"), Materialized.as("more-store"))
                        .suppress(minutes())));
    }

    /** A mapValues in front of a suppression gets a store, and no operator there leaves a row out. */
    public Pair mapValuesBeforeSuppressMaterialized() {
        return Pair.of(
                builder -> out(plain(builder)
                        .mapValues(count -> count + 1, Named.as("one-more"))
                        .suppress(minutes())),
                builder -> out(plain(builder)
                        .mapValues(count -> count + 1, Named.as("one-more"), Materialized.as("more-store"))
                        .suppress(minutes())));
    }

    /** A filter is put in front of a suppression with a name. */
    public Pair filterAddedBeforeNamedSuppress() {
        return Pair.of(
                builder -> out(plain(builder).suppress(minutes())),
                builder -> out(plain(builder)
                        .filter((host, count) -> count > 1, Named.as("more-than-one"))
                        .suppress(minutes())));
    }

    /** The grace of the windows whose end is waited for is longer. */
    public Pair graceMadeLongerBeforeSuppress() {
        return Pair.of(
                builder -> out(counts(builder, ofMinutes(5))
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))),
                builder -> out(counts(builder, ofHours(2))
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** The updates of a plain count are held back for a minute. */
    public Pair namedSuppressAddedBehindPlainCount() {
        return Pair.of(builder -> out(plain(builder)), builder -> out(plain(builder)
                .suppress(Suppressed.<String>untilTimeLimit(ofMinutes(1), maxRecords(10_000)).withName("fewer"))));
    }

    /** The suppression goes behind an operator that gives its values another type. */
    public Pair suppressMovedBehindMapValues() {
        return Pair.of(
                builder -> text(counts(builder)
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))
                        .mapValues(count -> count.toString(), Named.as("as-text"))),
                builder -> text(counts(builder)
                        .mapValues(count -> count.toString(), Named.as("as-text"))
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** A suppression that was disabled before is removed. */
    public Pair disabledSuppressRemoved() {
        return Pair.of(
                builder -> out(counts(builder).suppress(
                        Suppressed.<Windowed<String>>untilTimeLimit(Duration.ZERO, unbounded()).withName("final-only"))),
                builder -> out(counts(builder)));
    }

    /** A count without a name becomes a reduce: the buffer behind it keeps its number, and records of the count. */
    public Pair unnamedCountBecomesReduceBeforeUnnamedSuppress() {
        return Pair.of(
                builder -> out(alerts(builder).count().suppress(untilTimeLimit(ofMinutes(10), unbounded()))),
                builder -> out(alerts(builder)
                        .reduce((earlier, later) -> later)
                        .suppress(untilTimeLimit(ofMinutes(10), unbounded()))));
    }

    /** An aggregate without a name becomes a reduce, with the keys and the format of the aggregate. */
    public Pair unnamedAggregateBecomesReduceBeforeUnnamedSuppress() {
        return Pair.of(
                builder -> out(alerts(builder)
                        .aggregate(() -> "", (host, alert, earlier) -> alert)
                        .suppress(untilTimeLimit(ofMinutes(10), unbounded()))),
                builder -> out(alerts(builder)
                        .reduce((earlier, later) -> later)
                        .suppress(untilTimeLimit(ofMinutes(10), unbounded()))));
    }

    /** An output behind a suppression gets the results of the table itself. */
    public Pair outputMovedInFrontOfSuppress() {
        return Pair.of(
                builder -> {
                    KTable<String, Long> fewer = plain(builder).suppress(minutes());
                    out(fewer);
                    visits(fewer);
                },
                builder -> {
                    KTable<String, Long> counts = plain(builder);
                    out(counts.suppress(minutes()));
                    visits(counts);
                });
    }

    /** A new output gets the results of the table itself, and the one behind the suppression stays. */
    public Pair outputAddedInFrontOfSuppress() {
        return Pair.of(
                builder -> out(plain(builder).suppress(minutes())),
                builder -> {
                    KTable<String, Long> counts = plain(builder);
                    out(counts.suppress(minutes()));
                    visits(counts);
                });
    }

    private static Suppressed<String> minutes() {
        return Suppressed.<String>untilTimeLimit(ofMinutes(10), unbounded()).withName("fewer");
    }

    private static Pair suppressions(Suppressed<? super Windowed<String>> before,
            Suppressed<? super Windowed<String>> after) {
        return Pair.of(
                builder -> out(counts(builder).suppress(before)), builder -> out(counts(builder).suppress(after)));
    }

    private static KTable<Windowed<String>, Long> counts(StreamsBuilder builder) {
        return counts(builder, ofMinutes(5));
    }

    private static KTable<Windowed<String>, Long> counts(StreamsBuilder builder, Duration grace) {
        return builder.<String, String>stream("alerts", Consumed.as("alerts-source"))
                .groupByKey(Grouped.as("by-host"))
                .windowedBy(Windows.tumbling(ofHours(1), grace))
                .count(Named.as("count-alerts"), Materialized.as("alerts-store"));
    }

    private static KTable<String, Long> plain(StreamsBuilder builder) {
        return builder.<String, String>stream("alerts", Consumed.as("alerts-source"))
                .groupByKey(Grouped.as("by-host"))
                .count(Named.as("count-alerts"), Materialized.as("alerts-store"));
    }

    private static KGroupedStream<String, String> alerts(StreamsBuilder builder) {
        return builder.<String, String>stream("alerts", Consumed.as("alerts-source")).groupByKey(Grouped.as("by-host"));
    }

    private static KTable<String, Long> visited(StreamsBuilder builder) {
        return builder.<String, String>stream("visits", Consumed.as("visits-source"))
                .groupByKey(Grouped.as("by-visitor"))
                .count(Named.as("count-visits"), Materialized.as("visits-store"));
    }

    private static KTable<Windowed<String>, Long> countsUnnamed(StreamsBuilder builder) {
        return builder.<String, String>stream("alerts")
                .groupByKey()
                .windowedBy(Windows.tumbling(ofHours(1), ofMinutes(5)))
                .count();
    }

    private static void countUnnamed(KTable<Windowed<String>, Long> counts) {
        counts.toStream()
                .groupBy((window, count) -> count.toString())
                .count()
                .toStream()
                .to("hosts-per-alert-count");
    }

    private static void text(KTable<Windowed<String>, String> counts) {
        counts.toStream(Named.as("alert-counts")).to("alert-counts", Produced.as("alert-counts-sink"));
    }

    private static void visits(KTable<String, Long> counts) {
        counts.toStream(Named.as("visit-counts")).to("visit-counts", Produced.as("visit-counts-sink"));
    }

    private static <K, V> void out(KTable<K, V> table) {
        table.toStream(Named.as("alert-counts")).to("alert-counts", Produced.as("alert-counts-sink"));
    }
}
