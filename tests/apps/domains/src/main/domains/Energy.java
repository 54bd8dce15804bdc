package domains;

import java.time.Duration;
import java.util.Set;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology.AutoOffsetReset;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorSupplier;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Consumption of households. */
public final class Energy {
    public record Reading(String meter, double kwh, long at) {}

    private static final Serde<Reading> READING = new BinarySerde<>(Reading.class);

    /** The hourly sum is written every ten minutes, no longer when the hour is over. */
    public Pair finalHourToTimeLimit() {
        return Pair.of(
                builder -> hourly(
                        builder,
                        Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("hourly-held")),
                builder -> hourly(
                        builder,
                        Suppressed.<Windowed<String>>untilTimeLimit(
                                        Duration.ofMinutes(10), Suppressed.BufferConfig.maxBytes(5_000_000))
                                .withName("hourly-held")));
    }

    /** The table of contracts joins that of tariffs, no longer the other way round; the result is the same. */
    public Pair tariffTablesSwapped() {
        return Pair.of(
                builder -> {
                    KTable<String, String> tariffs = table(builder, "tariffs");
                    KTable<String, String> contracts = table(builder, "contracts");
                    priced(tariffs.join(
                            contracts,
                            (tariff, contract) -> contract + ":" + tariff,
                            Named.as("price"),
                            textStore("prices-store")));
                },
                builder -> {
                    KTable<String, String> tariffs = table(builder, "tariffs");
                    KTable<String, String> contracts = table(builder, "contracts");
                    priced(contracts.join(
                            tariffs,
                            (contract, tariff) -> contract + ":" + tariff,
                            Named.as("price"),
                            textStore("prices-store")));
                });
    }

    /** Readings are logged in front of a sum; every store and topic has a name. */
    public Pair peekInserted() {
        return Pair.of(
                builder -> sum(readings(builder)),
                builder -> sum(readings(builder)
                        .peek((meter, reading) -> System.out.println(meter), Named.as("log-readings"))));
    }

    /** Readings that were sent twice are dropped by a processor with a store of its own. */
    public Pair dedupeInserted() {
        return Pair.of(
                builder -> sum(readings(builder)),
                builder -> sum(readings(builder).processValues(new Dedupe(), Named.as("dedupe"))));
    }

    /** A new group begins with the newest readings, no longer with the oldest. */
    public Pair offsetResetToLatest() {
        Consumed<String, Reading> consumed = Consumed.with(Serdes.String(), READING);
        return Pair.of(
                builder -> sum(builder.stream(
                        "readings", consumed.withOffsetResetPolicy(AutoOffsetReset.EARLIEST))),
                builder -> sum(builder.stream("readings", consumed.withOffsetResetPolicy(AutoOffsetReset.LATEST))));
    }

    private static KStream<String, Reading> readings(StreamsBuilder builder) {
        return builder.stream("readings", Consumed.with(Serdes.String(), READING));
    }

    private static void hourly(StreamsBuilder builder, Suppressed<? super Windowed<String>> held) {
        readings(builder)
                .mapValues(Reading::kwh)
                .groupByKey(Grouped.with(Serdes.String(), Serdes.Double()))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofHours(1), Duration.ofMinutes(5)))
                .reduce(Double::sum, Materialized.<String, Double, WindowStore<Bytes, byte[]>>as("hourly-store")
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Double()))
                .suppress(held)
                .toStream((window, kwh) -> window.key())
                .to("kwh-per-hour", Produced.with(Serdes.String(), Serdes.Double()));
    }

    private static KTable<String, String> table(StreamsBuilder builder, String topic) {
        return builder.table(topic, Consumed.with(Serdes.String(), Serdes.String()), textStore(topic + "-store"));
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> textStore(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name)
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.String());
    }

    private static void priced(KTable<String, String> prices) {
        prices.toStream(Named.as("price-updates"))
                .to("prices", Produced.with(Serdes.String(), Serdes.String()).withName("prices-sink"));
    }

    private static void sum(KStream<String, Reading> readings) {
        readings.mapValues(Reading::kwh, Named.as("kwh"))
                .groupByKey(Grouped.with("kwh-by-meter", Serdes.String(), Serdes.Double()))
                .reduce(
                        Double::sum,
                        Named.as("sum-of-meter"),
                        Materialized.<String, Double, KeyValueStore<Bytes, byte[]>>as("meter-sums")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Double()))
                .toStream(Named.as("sums"))
                .to("meter-sums-out", Produced.with(Serdes.String(), Serdes.Double()).withName("sums-sink"));
    }

    private static final class Dedupe implements FixedKeyProcessorSupplier<String, Reading, Reading> {
        @Override
        public FixedKeyProcessor<String, Reading, Reading> get() {
            return new FirstOfTime();
        }

        @Override
        public Set<StoreBuilder<?>> stores() {
            return Set.of(Stores.keyValueStoreBuilder(
                    Stores.persistentKeyValueStore("last-reading-at"), Serdes.String(), Serdes.Long()));
        }
    }

    private static final class FirstOfTime implements FixedKeyProcessor<String, Reading, Reading> {
        private FixedKeyProcessorContext<String, Reading> context;
        private KeyValueStore<String, Long> last;

        @Override
        public void init(FixedKeyProcessorContext<String, Reading> context) {
            this.context = context;
            last = context.getStateStore("last-reading-at");
        }

        @Override
        public void process(FixedKeyRecord<String, Reading> record) {
            Long at = last.get(record.key());
            if (at == null || at < record.value().at()) {
                last.put(record.key(), record.value().at());
                context.forward(record);
            }
        }
    }
}
