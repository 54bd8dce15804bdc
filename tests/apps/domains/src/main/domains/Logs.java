package domains;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.BranchedKStream;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Log lines and the alerts that they raise. */
public final class Logs {
    public record Line(String host, String service, String level) {}

    private static final Serde<Line> LINE = new CsvSerde<>(Line.class);

    /** The suppression that throttles alerts gets another name. */
    public Pair throttleRenamed() {
        return Pair.of(builder -> alerts(builder, "throttle"), builder -> alerts(builder, "alert-throttle"));
    }

    /** Debug lines are not written any more: a branch and its topic go. */
    public Pair debugBranchRemoved() {
        return Pair.of(builder -> levels(builder, true), builder -> levels(builder, false));
    }

    /** A new changelog would be compacted sooner; that of the store is there already. */
    public Pair changelogConfigTuned() {
        return Pair.of(
                builder -> errors(builder, Map.of("min.insync.replicas", "2")),
                builder -> errors(builder, Map.of("min.insync.replicas", "2", "segment.ms", "3600000")));
    }

    /** Lines are counted by service and by nothing else: the topic in between goes, as they have that key already. */
    public Pair repartitionByServiceRemoved() {
        return Pair.of(
                builder -> services(lines(builder)
                        .repartition(Repartitioned.with(Serdes.String(), LINE).withName("lines-by-service"))),
                builder -> services(lines(builder)));
    }

    private static KStream<String, Line> lines(StreamsBuilder builder) {
        return builder.stream("lines", Consumed.with(Serdes.String(), LINE).withName("lines-source"));
    }

    private static void alerts(StreamsBuilder builder, String suppression) {
        lines(builder)
                .filter((service, line) -> line.level().equals("ERROR"), Named.as("errors"))
                .groupByKey(Grouped.as("errors-by-service"))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofSeconds(30)))
                .count(Named.as("count-errors"), Materialized.as("errors-per-minute"))
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName(suppression))
                .filter((window, count) -> count > 100, Named.as("many"))
                .toStream((window, count) -> window.key(), Named.as("alert"))
                .to("alerts", Produced.with(Serdes.String(), Serdes.Long()).withName("alerts-sink"));
    }

    private static void levels(StreamsBuilder builder, boolean debug) {
        BranchedKStream<String, Line> levels = lines(builder)
                .split(Named.as("level-"))
                .branch((service, line) -> line.level().equals("ERROR"), Branched.withConsumer(
                        lines -> lines.to("errors", Produced.with(Serdes.String(), LINE).withName("errors-sink")),
                        "error"));
        if (debug) {
            levels = levels.branch((service, line) -> line.level().equals("DEBUG"), Branched.withConsumer(
                    lines -> lines.to("debug", Produced.with(Serdes.String(), LINE).withName("debug-sink")), "debug"));
        }
        levels.defaultBranch(Branched.withConsumer(
                lines -> lines.groupByKey(Grouped.as("others-by-service"))
                        .count(Named.as("count-others"), Materialized.as("others-store")),
                "others"));
    }

    private static void errors(StreamsBuilder builder, Map<String, String> changelog) {
        lines(builder)
                .filter((service, line) -> line.level().equals("ERROR"), Named.as("errors"))
                .groupByKey(Grouped.as("errors-by-service"))
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(10)))
                .count(
                        Named.as("count-errors"),
                        Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("error-rate")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Long())
                                .withLoggingEnabled(changelog))
                .toStream((window, count) -> window.key(), Named.as("rate"))
                .to("error-rates", Produced.with(Serdes.String(), Serdes.Long()).withName("rates-sink"));
    }

    private static void services(KStream<String, Line> lines) {
        lines.groupByKey(Grouped.with("by-service", Serdes.String(), LINE))
                .count(
                        Named.as("count-lines"),
                        Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("service-lines")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Long()))
                .toStream(Named.as("line-counts"))
                .to("lines-per-service", Produced.with(Serdes.String(), Serdes.Long()).withName("lines-sink"));
    }
}
