package domains;

import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.maxRecords;
import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.unbounded;

import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.StrictBufferConfig;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.WindowedSerdes;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.processor.WallclockTimestampExtractor;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Measurements of devices in the field. */
public final class Telemetry {
    public record Measurement(String device, double celsius, long measuredAt) {}

    public record Average(double sum, long count) {}

    private static final Serde<Measurement> MEASUREMENT = new CsvSerde<>(Measurement.class);
    private static final Serde<Average> AVERAGE = new BinarySerde<>(Average.class);

    /** The averages of the devices are kept in memory, no longer in RocksDB. */
    public Pair averagesInMemory() {
        return Pair.of(
                builder -> averages(builder, Stores.persistentKeyValueStore("device-averages")),
                builder -> averages(builder, Stores.inMemoryKeyValueStore("device-averages")));
    }

    /** Windows are kept for two days, no longer for a week. */
    public Pair windowsKeptShorter() {
        return Pair.of(
                builder -> highest(builder, Duration.ofDays(7)), builder -> highest(builder, Duration.ofDays(2)));
    }

    /** The buffer of final results gets a limit. */
    public Pair alertBufferBounded() {
        return Pair.of(
                builder -> alerts(builder, unbounded(), null),
                builder -> alerts(builder, maxRecords(50_000).shutDownWhenFull(), null));
    }

    /** Windows go by the time of arrival, no longer by that of the measurement. */
    public Pair arrivalTimeForEventTime() {
        return Pair.of(
                builder -> alerts(builder, unbounded(), new MeasuredAt()),
                builder -> alerts(builder, unbounded(), new WallclockTimestampExtractor()));
    }

    /** A filter with a name gets another name; every store and topic has a chosen one. */
    public Pair filterRenamed() {
        return Pair.of(builder -> latest(builder, "drop-broken"), builder -> latest(builder, "valid-measurements"));
    }

    private static KStream<String, Measurement> measurements(StreamsBuilder builder) {
        return builder.stream("measurements", Consumed.with(Serdes.String(), MEASUREMENT));
    }

    private static void averages(StreamsBuilder builder, KeyValueBytesStoreSupplier store) {
        measurements(builder)
                .groupByKey()
                .aggregate(
                        () -> new Average(0, 0),
                        (device, one, average) -> new Average(average.sum() + one.celsius(), average.count() + 1),
                        Materialized.<String, Average>as(store)
                                .withKeySerde(Serdes.String())
                                .withValueSerde(AVERAGE))
                .toStream()
                .mapValues(average -> average.sum() / average.count())
                .to("device-averages-out", Produced.with(Serdes.String(), Serdes.Double()));
    }

    private static void highest(StreamsBuilder builder, Duration retention) {
        measurements(builder)
                .mapValues(Measurement::celsius, Named.as("celsius"))
                .groupByKey(Grouped.with("by-device", Serdes.String(), Serdes.Double()))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofHours(1), Duration.ofMinutes(10)))
                .reduce(
                        Math::max,
                        Named.as("highest-of-hour"),
                        Materialized.<String, Double, WindowStore<Bytes, byte[]>>as("highest-store")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Double())
                                .withRetention(retention))
                .toStream(Named.as("highest"))
                .to(
                        "highest-per-hour",
                        Produced.with(WindowedSerdes.timeWindowedSerdeFrom(String.class, 3_600_000L), Serdes.Double()));
    }

    private static void alerts(StreamsBuilder builder, StrictBufferConfig limits, TimestampExtractor time) {
        Consumed<String, Measurement> consumed = Consumed.with(Serdes.String(), MEASUREMENT);
        builder.stream("measurements", time == null ? consumed : consumed.withTimestampExtractor(time))
                .filter((device, one) -> one.celsius() > 90)
                .groupByKey(Grouped.as("hot-by-device"))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(5), Duration.ofMinutes(1)))
                .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("hot-count")
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Long()))
                .suppress(Suppressed.untilWindowCloses(limits).withName("hot-final"))
                .toStream((window, count) -> window.key())
                .to("hot-devices", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void latest(StreamsBuilder builder, String filter) {
        builder.stream("measurements", Consumed.with(Serdes.String(), MEASUREMENT).withName("measurements-source"))
                .filter((device, one) -> one.celsius() > -80 && one.celsius() < 200, Named.as(filter))
                .groupByKey(Grouped.as("by-device"))
                .reduce((old, one) -> one.measuredAt() > old.measuredAt() ? one : old, Materialized.as("latest-store"))
                .toStream(Named.as("latest"))
                .to("latest-measurements", Produced.<String, Measurement>as("latest-sink").withValueSerde(MEASUREMENT));
    }

    /** The time of a measurement. */
    public static final class MeasuredAt implements TimestampExtractor {
        @Override
        public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
            return record.value() instanceof Measurement one ? one.measuredAt() : partitionTime;
        }
    }
}
