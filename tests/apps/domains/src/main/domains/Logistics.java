package domains;

import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KeyValueMapper;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import topologies.Pair;

/** Parcels on their way. */
public final class Logistics {
    public record Scan(String parcel, String depot, String status) {}

    private static final Serde<Scan> SCAN = new CsvSerde<>(Scan.class);

    /** The topic of scans by depot gets twelve partitions, no longer six. */
    public Pair depotPartitionsDoubled() {
        return Pair.of(builder -> byDepot(builder, 6), builder -> byDepot(builder, 12));
    }

    /** Scans are counted by depot and status, no longer by depot: the key changes inside a lambda. */
    public Pair depotKeyExtended() {
        return Pair.of(
                builder -> counted(builder, (parcel, scan) -> scan.depot()),
                builder -> counted(builder, (parcel, scan) -> scan.depot() + "/" + scan.status()));
    }

    /** An estimate of the arrival is added to each scan, in front of a count without a name. */
    public Pair estimateInsertedBeforeUnnamedCount() {
        return Pair.of(
                builder -> scans(builder)
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("scans-per-parcel", Produced.with(Serdes.String(), Serdes.Long())),
                builder -> scans(builder)
                        .processValues(Estimate::new)
                        .groupByKey(Grouped.valueSerde(SCAN))
                        .count()
                        .toStream()
                        .to("scans-per-parcel", Produced.with(Serdes.String(), Serdes.Long())));
    }

    /** Topics of fewer regions are read: the pattern of a subscription changes. */
    public Pair regionPatternNarrowed() {
        return Pair.of(
                builder -> regions(builder, Pattern.compile("scans-.*")),
                builder -> regions(builder, Pattern.compile("scans-(eu|us)")));
    }

    /** The last scan of each parcel is asked for by an application: its unnamed store gets a name. */
    public Pair lastScanStoreNamed() {
        return Pair.of(
                builder -> scans(builder)
                        .groupByKey()
                        .reduce((old, scan) -> scan)
                        .toStream()
                        .to("last-scans", Produced.with(Serdes.String(), SCAN)),
                builder -> scans(builder)
                        .groupByKey()
                        .reduce((old, scan) -> scan, Materialized.as("last-scan"))
                        .toStream()
                        .to("last-scans", Produced.with(Serdes.String(), SCAN)));
    }

    private static KStream<String, Scan> scans(StreamsBuilder builder) {
        return builder.stream("scans", Consumed.with(Serdes.String(), SCAN));
    }

    private static void byDepot(StreamsBuilder builder, int partitions) {
        scans(builder)
                .selectKey((parcel, scan) -> scan.depot(), Named.as("depot"))
                .repartition(Repartitioned.<String, Scan>as("scans-by-depot")
                        .withKeySerde(Serdes.String())
                        .withValueSerde(SCAN)
                        .withNumberOfPartitions(partitions))
                .groupByKey()
                .count(Materialized.as("depot-load"))
                .toStream()
                .to("depot-load-out", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void counted(StreamsBuilder builder, KeyValueMapper<String, Scan, String> key) {
        scans(builder)
                .groupBy(key, Grouped.with("scans-by-place", Serdes.String(), SCAN))
                .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("place-counts")
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Long()))
                .toStream()
                .to("scans-per-place", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void regions(StreamsBuilder builder, Pattern topics) {
        builder.stream(topics, Consumed.with(Serdes.String(), SCAN).withName("all-scans"))
                .filter((parcel, scan) -> scan.status().equals("DELIVERED"), Named.as("deliveries"))
                .groupByKey(Grouped.as("deliveries-by-parcel"))
                .count(Named.as("count-deliveries"), Materialized.as("deliveries-store"))
                .toStream(Named.as("delivery-counts"))
                .to("deliveries", Produced.with(Serdes.String(), Serdes.Long()).withName("deliveries-sink"));
    }

    private static final class Estimate extends ContextualFixedKeyProcessor<String, Scan, Scan> {
        @Override
        public void process(FixedKeyRecord<String, Scan> record) {
            Scan scan = record.value();
            context().forward(record.withValue(new Scan(scan.parcel(), scan.depot(), scan.status() + " (today)")));
        }
    }
}
