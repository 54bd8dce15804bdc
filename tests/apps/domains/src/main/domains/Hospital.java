package domains;

import java.time.Duration;
import java.util.Set;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Vital signs of patients. */
public final class Hospital {
    public record Vital(String patient, String ward, long pulse) {}

    private static final Serde<Vital> VITAL = new CsvSerde<>(Vital.class);

    /** Pulses are counted over the last ten minutes, no longer five. */
    public Pair pulseWindowDoubled() {
        return Pair.of(
                builder -> highPulses(builder, Duration.ofMinutes(5)),
                builder -> highPulses(builder, Duration.ofMinutes(10)));
    }

    /** Windows of five minutes slide with each pulse, in the store of the fixed windows. */
    public Pair fixedToSlidingWindow() {
        return Pair.of(
                builder -> out(byPatient(builder)
                        .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(5), Duration.ofMinutes(1)))
                        .count(pulseStore())),
                builder -> highPulses(builder, Duration.ofMinutes(5)));
    }

    /** Every change of a count is written at once: the suppression goes. */
    public Pair monitorSuppressRemoved() {
        return Pair.of(
                builder -> out(byPatient(builder)
                        .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofSeconds(20)))
                        .count(Named.as("count-pulses"), pulseStore())
                        .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())
                                .withName("pulses-final"))),
                builder -> out(byPatient(builder)
                        .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofSeconds(20)))
                        .count(Named.as("count-pulses"), pulseStore())));
    }

    /** The last pulse of a patient has no changelog any more. */
    public Pair lastPulseUnlogged() {
        return Pair.of(() -> changes(true), () -> changes(false));
    }

    /** The unnamed store of the table of patients gets a name. */
    public Pair patientTableNamed() {
        Consumed<String, String> consumed = Consumed.with(Serdes.String(), Serdes.String());
        return Pair.of(
                builder -> admitted(builder, builder.table("patients", consumed)),
                builder -> admitted(builder, builder.table("patients", consumed, Materialized.as("patients-store"))));
    }

    private static KGroupedStream<String, Vital> byPatient(StreamsBuilder builder) {
        return builder.stream("vitals", Consumed.with(Serdes.String(), VITAL))
                .filter((patient, vital) -> vital.pulse() > 120)
                .groupByKey();
    }

    private static Materialized<String, Long, WindowStore<Bytes, byte[]>> pulseStore() {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("pulses-store")
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Long())
                .withRetention(Duration.ofHours(1));
    }

    private static void highPulses(StreamsBuilder builder, Duration within) {
        out(byPatient(builder)
                .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(within, Duration.ofMinutes(1)))
                .count(pulseStore()));
    }

    private static void out(KTable<org.apache.kafka.streams.kstream.Windowed<String>, Long> counts) {
        counts.toStream((window, count) -> window.key())
                .to("high-pulses", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void admitted(StreamsBuilder builder, KTable<String, String> patients) {
        builder.stream("vitals", Consumed.with(Serdes.String(), VITAL))
                .join(patients, (vital, patient) -> patient + " " + vital.pulse())
                .to("vitals-of-admitted", Produced.with(Serdes.String(), Serdes.String()));
    }

    private static Topology changes(boolean logged) {
        Topology topology = new Topology();
        topology.addSource("vitals-source", Serdes.String().deserializer(), VITAL.deserializer(), "vitals");
        topology.addProcessor("pulse-change", new PulseChanges(logged), "vitals-source");
        topology.addSink(
                "changes-sink",
                "pulse-changes",
                Serdes.String().serializer(),
                Serdes.Long().serializer(),
                "pulse-change");
        return topology;
    }

    private record PulseChanges(boolean logged) implements ProcessorSupplier<String, Vital, String, Long> {
        @Override
        public Processor<String, Vital, String, Long> get() {
            return new PulseChange();
        }

        @Override
        public Set<StoreBuilder<?>> stores() {
            StoreBuilder<?> store = Stores.keyValueStoreBuilder(
                    Stores.persistentKeyValueStore("last-pulse"), Serdes.String(), Serdes.Long());
            return Set.of(logged ? store : store.withLoggingDisabled());
        }
    }

    private static final class PulseChange implements Processor<String, Vital, String, Long> {
        private ProcessorContext<String, Long> context;
        private KeyValueStore<String, Long> last;

        @Override
        public void init(ProcessorContext<String, Long> context) {
            this.context = context;
            last = context.getStateStore("last-pulse");
        }

        @Override
        public void process(Record<String, Vital> record) {
            Long before = last.get(record.key());
            last.put(record.key(), record.value().pulse());
            if (before != null) {
                context.forward(record.withValue(record.value().pulse() - before));
            }
        }
    }
}
