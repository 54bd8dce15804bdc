package topologies.pairs;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import topologies.Pair;

/** Changes of what makes a processor's store: the format of its values, its class. */
public final class ProcessorStores {
    private static final String SEEN = "seen";
    private static final int MOST = 3;

    /** The builder of a store on the disk keeps values alone. */
    public Pair timestampsOfProcessorStoreDropped() {
        return Pair.of(ProcessorStores::onDiskWithTime, ProcessorStores::onDisk);
    }

    /** The builder of a store on the disk keeps timestamps from now on. */
    public Pair timestampsOfProcessorStoreAdded() {
        return Pair.of(ProcessorStores::onDisk, ProcessorStores::onDiskWithTime);
    }

    /** The builder of an LRU map keeps values alone. */
    public Pair timestampsOfLruMapDropped() {
        return Pair.of(
                builder -> lastSeen(builder, timestamped(Stores.lruMap(SEEN, MOST)), LastWithTime::new),
                ProcessorStores::inLruMap);
    }

    /** A store on the disk gives way to an LRU map. */
    public Pair storeOnDiskBecomesLruMap() {
        return Pair.of(ProcessorStores::onDisk, ProcessorStores::inLruMap);
    }

    /** A store keeps the operator that looks into it, and loses the one that fills it. */
    public Pair writerOfStoreRemoved() {
        return Pair.of(
                builder -> {
                    onDisk(builder);
                    looked(builder);
                },
                builder -> looked(builder.addStateStore(plain(Stores.persistentKeyValueStore(SEEN)))));
    }

    /** A table loses the operator that looks into it. */
    public Pair lookupInTableRemoved() {
        return Pair.of(
                builder -> {
                    tableOfVisits(builder);
                    looked(builder);
                },
                ProcessorStores::tableOfVisits);
    }

    private static void looked(StreamsBuilder builder) {
        builder.<String, String>stream("questions", Consumed.as("questions-source"))
                .process(Last::new, Named.as("look"), SEEN)
                .to("answers", Produced.as("answers-sink"));
    }

    private static void tableOfVisits(StreamsBuilder builder) {
        builder.<String, String>table("visits", Materialized.as(SEEN))
                .toStream(Named.as("changes"))
                .to("last-visits", Produced.as("last-visits-sink"));
    }

    private static void onDisk(StreamsBuilder builder) {
        lastSeen(builder, plain(Stores.persistentKeyValueStore(SEEN)), Last::new);
    }

    private static void onDiskWithTime(StreamsBuilder builder) {
        lastSeen(builder, timestamped(Stores.persistentTimestampedKeyValueStore(SEEN)), LastWithTime::new);
    }

    private static void inLruMap(StreamsBuilder builder) {
        lastSeen(builder, plain(Stores.lruMap(SEEN, MOST)), Last::new);
    }

    private static void lastSeen(
            StreamsBuilder builder,
            StoreBuilder<? extends StateStore> store,
            ProcessorSupplier<String, String, String, String> last) {
        builder.addStateStore(store)
                .<String, String>stream("visits", Consumed.as("visits-source"))
                .process(last, Named.as("last"), SEEN)
                .to("last-visits", Produced.as("last-visits-sink"));
    }

    private static StoreBuilder<KeyValueStore<String, String>> plain(KeyValueBytesStoreSupplier supplier) {
        return Stores.keyValueStoreBuilder(supplier, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<TimestampedKeyValueStore<String, String>> timestamped(
            KeyValueBytesStoreSupplier supplier) {
        return Stores.timestampedKeyValueStoreBuilder(supplier, Serdes.String(), Serdes.String());
    }

    /** Forwards the value that a key had; an empty record looks, and leaves it. */
    private static final class Last extends ContextualProcessor<String, String, String, String> {
        @Override
        public void process(Record<String, String> visit) {
            KeyValueStore<String, String> seen = context().getStateStore(SEEN);
            context().forward(visit.withValue(String.valueOf(seen.get(visit.key()))));
            if (!visit.value().isEmpty()) {
                seen.put(visit.key(), visit.value());
            }
        }
    }

    /** The same, with the time of the record that the value came with. */
    private static final class LastWithTime extends ContextualProcessor<String, String, String, String> {
        @Override
        public void process(Record<String, String> visit) {
            TimestampedKeyValueStore<String, String> seen = context().getStateStore(SEEN);
            context().forward(visit.withValue(
                    String.valueOf(ValueAndTimestamp.getValueOrNull(seen.get(visit.key())))));
            if (!visit.value().isEmpty()) {
                seen.put(visit.key(), ValueAndTimestamp.make(visit.value(), visit.timestamp()));
            }
        }
    }
}
