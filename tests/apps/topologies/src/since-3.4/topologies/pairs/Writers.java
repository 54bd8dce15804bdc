package topologies.pairs;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;

import java.time.Duration;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;
import topologies.Windows;

/** Another operator fills a store under its name, or makes the rows that reach one. */
public final class Writers {

    /** The filter in front of the left table of a foreign-key join goes. */
    public Pair filterRemovedBeforeLeftTable() {
        return Pair.of(
                builder -> joined(large(parcels(builder)), vans(builder)),
                builder -> joined(parcels(builder), vans(builder)));
    }

    /** The right table of a foreign-key join is filtered; both tables are built where they were. */
    public Pair filterAddedBeforeRightTable() {
        return Pair.of(
                builder -> {
                    KTable<String, String> vans = vans(builder);
                    joined(parcels(builder), vans);
                },
                builder -> {
                    KTable<String, String> vans = large(vans(builder));
                    joined(parcels(builder), vans);
                });
    }

    /** The left table of a foreign-key join is a stream that becomes a table, with the store that it had. */
    public Pair leftTableBecomesStreamAsTable() {
        return Pair.of(
                builder -> joined(parcels(builder), vans(builder)),
                builder -> joined(parcelsOf(stream(builder)), vans(builder)));
    }

    /** A stream is filtered before it becomes the left table, whose store has the rows of before. */
    public Pair filterAddedBeforeStoreOfLeftTable() {
        return Pair.of(
                builder -> joined(parcelsOf(stream(builder).peek((id, parcel) -> {}, Named.as("seen"))), vans(builder)),
                builder -> joined(
                        parcelsOf(stream(builder)
                                .peek((id, parcel) -> {}, Named.as("seen"))
                                .filter((id, parcel) -> parcel.length() > 3, Named.as("large"))),
                        vans(builder)));
    }

    /** A reduce becomes an aggregate under its names. */
    public Pair reduceBecomesAggregate() {
        return Pair.of(
                builder -> out(weights(builder).groupByKey().reduce(Long::sum, Named.as("total"), longs("totals"))),
                builder -> out(weights(builder)
                        .groupByKey()
                        .aggregate(() -> 0L, (id, weight, most) -> Math.max(weight, most),
                                Named.as("total"), longs("totals"))));
    }

    /** The store of a table of a topic is that of its filter from now on. */
    public Pair tableOfTopicBecomesFilteredTable() {
        return Pair.of(
                builder -> texts(parcels(builder)),
                builder -> texts(builder.<String, String>table("parcels", Consumed.as("parcels-source"))
                        .filter((id, parcel) -> parcel.length() > 3, Named.as("large"), kept("parcels-table"))));
    }

    /** A table of a topic is a stream that becomes a table from now on, with the store that it had. */
    public Pair tableOfTopicBecomesStreamAsTable() {
        return Pair.of(builder -> texts(parcels(builder)), builder -> texts(parcelsOf(stream(builder))));
    }

    /** The supplier of a window store gets longer windows than its operator. */
    public Pair supplierWindowMadeLonger() {
        return Pair.of(windowed(5, 5, true), windowed(5, 20, true));
    }

    /** The same without a record cache. */
    public Pair supplierWindowMadeLongerWithoutCache() {
        return Pair.of(windowed(5, 5, false), windowed(5, 20, false));
    }

    /** The supplier of a window store gets the windows of its operator. */
    public Pair supplierWindowMended() {
        return Pair.of(windowed(5, 20, true), windowed(5, 5, true));
    }

    /** Supplier and operator get longer windows. */
    public Pair supplierAndOperatorWindowMadeLonger() {
        return Pair.of(windowed(5, 5, true), windowed(20, 20, true));
    }

    /** The count of each van is not cached any more, and its updates are counted. */
    public Pair cacheBeforeCountOfUpdatesDisabled() {
        return Pair.of(updatesCounted(true), updatesCounted(false));
    }

    /** The count of each van is not cached any more, and its rows are counted. */
    public Pair cacheBeforeCountOfRowsDisabled() {
        return Pair.of(rowsCounted(true), rowsCounted(false));
    }

    /** Updates of a cached count are counted. */
    public Pair updatesOfCachedCountCounted() {
        return Pair.same(updatesCounted(true));
    }

    /** Rows of a cached count are counted. */
    public Pair rowsOfCachedCountCounted() {
        return Pair.same(rowsCounted(true));
    }

    /** A filter in front of the count of a table becomes a filterNot under its name. */
    public Pair filterBecomesFilterNotBeforeTableCount() {
        return Pair.of(
                builder -> perVan(large(parcels(builder))),
                builder -> perVan(parcels(builder).filterNot((id, parcel) -> parcel.length() > 3, Named.as("large"))));
    }

    /** The filter in front of the count of a table has no store any more. */
    public Pair storeOfFilterBeforeTableCountRemoved() {
        return Pair.of(
                builder -> perVan(parcels(builder)
                        .filter((id, parcel) -> parcel.length() > 3, Named.as("large"), kept("large-parcels"))),
                builder -> perVan(large(parcels(builder))));
    }

    /** A stream is changed before it becomes the table that is counted, whose store has the rows of before. */
    public Pair mapValuesAddedBeforeStoreOfCountedTable() {
        return Pair.of(
                builder -> perVan(parcelsOf(stream(builder).peek((id, parcel) -> {}, Named.as("seen")))),
                builder -> perVan(parcelsOf(stream(builder)
                        .peek((id, parcel) -> {}, Named.as("seen"))
                        .mapValues(parcel -> parcel.trim(), Named.as("trimmed")))));
    }

    /** A suppression is put in front of the count of a table. */
    public Pair suppressAddedBeforeTableCount() {
        return Pair.of(
                builder -> perVan(parcels(builder)),
                builder -> perVan(parcels(builder)
                        .suppress(Suppressed.<String>untilTimeLimit(
                                        ofMinutes(1), Suppressed.BufferConfig.unbounded())
                                .withName("held"))));
    }

    /** A global table becomes a global store without timestamps. */
    public Pair globalTableBecomesPlainStore() {
        return Pair.of(Writers::globalTable, Writers::globalStore);
    }

    /** A global store without timestamps becomes a global table. */
    public Pair plainGlobalStoreBecomesTable() {
        return Pair.of(Writers::globalStore, Writers::globalTable);
    }

    /** One of two joined tables is filtered. */
    public Pair filterAddedBeforeJoinedTable() {
        return Pair.of(
                builder -> joinedByKey(parcels(builder), vans(builder)),
                builder -> joinedByKey(large(parcels(builder)), vans(builder)));
    }

    /** The values of one of two joined tables are changed. */
    public Pair mapValuesAddedBeforeJoinedTable() {
        return Pair.of(
                builder -> joinedByKey(parcels(builder), vans(builder)),
                builder -> joinedByKey(
                        parcels(builder).mapValues(parcel -> parcel.trim(), Named.as("trimmed")), vans(builder)));
    }

    private static void joinedByKey(KTable<String, String> parcels, KTable<String, String> vans) {
        texts(parcels.join(vans, (one, other) -> one + other, Named.as("parcel-van"), kept("joined")));
    }

    private static void perVan(KTable<String, String> parcels) {
        out(parcels.groupBy(
                        (id, parcel) -> KeyValue.pair(parcel.split(",")[0], parcel),
                        Grouped.with("by-van", Serdes.String(), Serdes.String()))
                .count(Named.as("count-parcels"), longs("parcels-of-vans")));
    }

    private static void globalTable(StreamsBuilder builder) {
        builder.globalTable(
                "vans", Consumed.with(Serdes.String(), Serdes.String()).withName("vans-source"), kept("vans-table"));
        stream(builder).to("parcels-out", Produced.as("parcels-sink"));
    }

    private static void globalStore(StreamsBuilder builder) {
        builder.addGlobalStore(
                Stores.keyValueStoreBuilder(
                        Stores.persistentKeyValueStore("vans-table"), Serdes.String(), Serdes.String()),
                "vans",
                Consumed.with(Serdes.String(), Serdes.String()).withName("vans-source"),
                Put::new);
        stream(builder).to("parcels-out", Produced.as("parcels-sink"));
    }

    /** Keeps each record as it comes. */
    private static final class Put extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            context().<KeyValueStore<String, String>>getStateStore("vans-table").put(record.key(), record.value());
        }
    }

    private static Consumer<StreamsBuilder> updatesCounted(boolean cached) {
        return builder -> out(perParcel(builder, cached)
                .toStream(Named.as("updates"))
                .groupByKey(Grouped.with("by-parcel", Serdes.String(), Serdes.Long()))
                .count(Named.as("count-updates"), longs("updates-counted")));
    }

    private static Consumer<StreamsBuilder> rowsCounted(boolean cached) {
        return builder -> out(perParcel(builder, cached)
                .groupBy((id, count) -> KeyValue.pair(count + "", count),
                        Grouped.with("by-count", Serdes.String(), Serdes.Long()))
                .count(Named.as("count-rows"), longs("rows-counted")));
    }

    private static KTable<String, Long> perParcel(StreamsBuilder builder, boolean cached) {
        Materialized<String, Long, KeyValueStore<Bytes, byte[]>> store = longs("parcels-counted");
        return weights(builder)
                .groupByKey()
                .count(Named.as("count-parcels"), cached ? store.withCachingEnabled() : store.withCachingDisabled());
    }

    private static Consumer<StreamsBuilder> windowed(int minutes, int supplied, boolean cached) {
        return builder -> {
            Materialized<String, Long, WindowStore<Bytes, byte[]>> store = Materialized.as(Stores.persistentWindowStore(
                    "weights-store", Duration.ofHours(2), ofMinutes(supplied), false));
            weights(builder)
                    .groupByKey()
                    .windowedBy(Windows.tumbling(ofMinutes(minutes), ofHours(1)))
                    .count(Named.as("count"), cached ? store.withCachingEnabled() : store.withCachingDisabled())
                    .toStream(Named.as("changes"))
                    .to("weights-out", Produced.as("weights-sink"));
        };
    }

    private static KStream<String, Long> weights(StreamsBuilder builder) {
        return builder.stream("weights", Consumed.with(Serdes.String(), Serdes.Long()).withName("weights-source"));
    }

    private static KStream<String, String> stream(StreamsBuilder builder) {
        return builder.stream("parcels", Consumed.as("parcels-stream"));
    }

    private static KTable<String, String> parcelsOf(KStream<String, String> parcels) {
        return parcels.toTable(Named.as("parcels-as-table"), kept("parcels-table"));
    }

    private static KTable<String, String> parcels(StreamsBuilder builder) {
        return builder.table("parcels", Consumed.as("parcels-source"), kept("parcels-table"));
    }

    private static KTable<String, String> vans(StreamsBuilder builder) {
        return builder.table("vans", Consumed.as("vans-source"), kept("vans-table"));
    }

    private static KTable<String, String> large(KTable<String, String> table) {
        return table.filter((id, text) -> text.length() > 3, Named.as("large"));
    }

    private static void joined(KTable<String, String> parcels, KTable<String, String> vans) {
        texts(parcels.join(
                vans, parcel -> parcel.split(",")[0], (one, other) -> one + other,
                TableJoined.as("parcel-van"), kept("joined")));
    }

    private static <V> Materialized<String, V, KeyValueStore<Bytes, byte[]>> kept(String store) {
        return Materialized.as(store);
    }

    private static Materialized<String, Long, KeyValueStore<Bytes, byte[]>> longs(String store) {
        return Writers.<Long>kept(store).withValueSerde(Serdes.Long());
    }

    private static void texts(KTable<String, String> table) {
        table.toStream(Named.as("changes")).to("parcels-out", Produced.as("parcels-sink"));
    }

    private static void out(KTable<String, Long> totals) {
        totals.toStream(Named.as("changes")).to("totals-out", Produced.as("totals-sink"));
    }
}
