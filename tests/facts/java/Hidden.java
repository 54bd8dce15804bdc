import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorSupplier;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.ProcessorWrapper;
import org.apache.kafka.streams.processor.api.WrappedFixedKeyProcessorSupplier;
import org.apache.kafka.streams.processor.api.WrappedProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;

/** A count behind a ProcessorWrapper (releases from 4.0 on), and a topic that is written in another format. */
public final class Hidden {
    private Hidden() {}

    public static Topology topology(Properties given) {
        Properties settings = new Properties();
        settings.putAll(given);
        settings.put(StreamsConfig.PROCESSOR_WRAPPER_CLASS_CONFIG, Wrapper.class);
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(new StreamsConfig(settings)));
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1)))
                .count(Materialized.as("counts"))
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("closed"))
                .toStream((window, count) -> window.key())
                .to("in", Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build(settings);
    }

    /** Hides the class of each operator. */
    public static final class Wrapper implements ProcessorWrapper {
        @Override
        public <KIn, VIn, KOut, VOut> WrappedProcessorSupplier<KIn, VIn, KOut, VOut> wrapProcessorSupplier(
                String name, ProcessorSupplier<KIn, VIn, KOut, VOut> supplier) {
            Set<StoreBuilder<?>> stores = supplier.stores();
            return ProcessorWrapper.asWrapped(new ProcessorSupplier<KIn, VIn, KOut, VOut>() {
                @Override
                public Processor<KIn, VIn, KOut, VOut> get() {
                    return supplier.get();
                }

                @Override
                public Set<StoreBuilder<?>> stores() {
                    return stores;
                }
            });
        }

        @Override
        public <KIn, VIn, VOut> WrappedFixedKeyProcessorSupplier<KIn, VIn, VOut> wrapFixedKeyProcessorSupplier(
                String name, FixedKeyProcessorSupplier<KIn, VIn, VOut> supplier) {
            return ProcessorWrapper.asWrappedFixedKey(supplier);
        }
    }
}
