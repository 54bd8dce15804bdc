package topologies.pairs;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;
import topologies.Windows;

/** Windows of aggregations. None of what changes here stands in a description. */
public final class WindowedCounts {

    /** Readings are counted per ten minutes instead of per hour. */
    public Pair tumblingWindowMadeSmaller() {
        return Pair.of(
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5))),
                builder -> count(builder, Windows.tumbling(ofMinutes(10), ofMinutes(5))));
    }

    /** Readings are counted per four hours instead of per hour. */
    public Pair tumblingWindowMadeLarger() {
        return Pair.of(
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5))),
                builder -> count(builder, Windows.tumbling(ofHours(4), ofMinutes(5))));
    }

    /** The size of the window is written in minutes instead of hours; it is the same size. */
    public Pair tumblingWindowInOtherUnit() {
        return Pair.of(
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5))),
                builder -> count(builder, Windows.tumbling(ofMinutes(60), ofMinutes(5))));
    }

    /** Hourly windows that start every hour start every ten minutes now. */
    public Pair tumblingWindowToHoppingWindow() {
        return Pair.of(
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5))),
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5)).advanceBy(ofMinutes(10))));
    }

    /** A session ends after ten minutes without a reading instead of thirty. */
    public Pair sessionGapMadeSmaller() {
        return Pair.of(
                builder -> count(builder, Windows.sessions(ofMinutes(30), ofMinutes(5))),
                builder -> count(builder, Windows.sessions(ofMinutes(10), ofMinutes(5))));
    }

    /** Sessions take the place of fixed windows, in the store of the same name. */
    public Pair tumblingWindowToSessionWindow() {
        return Pair.of(
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5))),
                builder -> count(builder, Windows.sessions(ofMinutes(30), ofMinutes(5))));
    }

    /** Late readings are waited for twice as long. */
    public Pair graceMadeLonger() {
        return Pair.of(
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5))),
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(10))));
    }

    /** Late readings of a session are not waited for as long as before. */
    public Pair sessionGraceMadeShorter() {
        return Pair.of(
                builder -> count(builder, Windows.sessions(ofMinutes(30), ofMinutes(10))),
                builder -> count(builder, Windows.sessions(ofMinutes(30), ofMinutes(1))));
    }

    /** Windows are kept for a week instead of two days. */
    public Pair retentionMadeLonger() {
        return Pair.of(builder -> count(builder, ofDays(2)), builder -> count(builder, ofDays(7)));
    }

    /** Windows are kept for a day instead of two. */
    public Pair retentionMadeShorter() {
        return Pair.of(builder -> count(builder, ofDays(2)), builder -> count(builder, ofDays(1)));
    }

    /** The store of the windows is not cached any more. */
    public Pair cachingOfWindowsDisabled() {
        return Pair.of(builder -> count(builder, ofDays(2)), builder -> out(byMeter(builder)
                .windowedBy(Windows.tumbling(ofHours(1), ofMinutes(5)))
                .count(
                        Named.as("count-readings"),
                        Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("readings-store")
                                .withRetention(ofDays(2))
                                .withCachingDisabled())));
    }

    /** A count of all readings becomes one per hour, in the store of the same name. */
    public Pair countToWindowedCount() {
        return Pair.of(
                builder -> byMeter(builder)
                        .count(Named.as("count-readings"), Materialized.as("readings-store"))
                        .toStream(Named.as("reading-counts"))
                        .to("reading-counts", Produced.as("reading-counts-sink")),
                builder -> count(builder, Windows.tumbling(ofHours(1), ofMinutes(5))));
    }

    /** A count per hour without a name is made one per ten minutes. */
    public Pair unnamedTumblingWindowMadeSmaller() {
        return Pair.of(
                builder -> builder.<String, String>stream("readings")
                        .groupByKey()
                        .windowedBy(Windows.tumbling(ofHours(1), ofMinutes(5)))
                        .count()
                        .toStream()
                        .to("reading-counts"),
                builder -> builder.<String, String>stream("readings")
                        .groupByKey()
                        .windowedBy(Windows.tumbling(ofMinutes(10), ofMinutes(5)))
                        .count()
                        .toStream()
                        .to("reading-counts"));
    }

    private static KGroupedStream<String, String> byMeter(StreamsBuilder builder) {
        return builder.<String, String>stream("readings", Consumed.as("readings-source"))
                .groupByKey(Grouped.with("by-meter", Serdes.String(), Serdes.String()));
    }

    private static void count(StreamsBuilder builder, TimeWindows windows) {
        out(byMeter(builder).windowedBy(windows).count(Named.as("count-readings"), Materialized.as("readings-store")));
    }

    private static void count(StreamsBuilder builder, SessionWindows windows) {
        out(byMeter(builder).windowedBy(windows).count(Named.as("count-readings"), Materialized.as("readings-store")));
    }

    private static void count(StreamsBuilder builder, Duration retention) {
        out(byMeter(builder)
                .windowedBy(Windows.tumbling(ofHours(1), ofMinutes(5)))
                .count(
                        Named.as("count-readings"),
                        Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("readings-store")
                                .withRetention(retention)));
    }

    private static void out(KTable<Windowed<String>, Long> counts) {
        counts.toStream(Named.as("reading-counts"))
                .to("reading-counts", Produced.as("reading-counts-sink"));
    }
}
