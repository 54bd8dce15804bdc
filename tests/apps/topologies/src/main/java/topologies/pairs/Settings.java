package topologies.pairs;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.unbounded;
import static org.apache.kafka.streams.kstream.Suppressed.untilWindowCloses;

import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Windowed;
import topologies.Pair;
import topologies.Windows;

/** The code stays; what changes is a setting, a topic or the version of the library. */
public final class Settings {

    /** The application gets another id. */
    public Pair applicationIdChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** The clients get another id, the application keeps its own. */
    public Pair clientIdChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** An instance that is a static member gets another member id. */
    public Pair groupInstanceIdChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** Static membership is switched on. */
    public Pair groupInstanceIdSet() {
        return Pair.same(Settings::countOrders);
    }

    /** Static membership is switched off. */
    public Pair groupInstanceIdUnset() {
        return Pair.same(Settings::countOrders);
    }

    /** Records are processed exactly once instead of at least once. */
    public Pair processingGuaranteeChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** The commit interval is shorter; the guarantee is the same. */
    public Pair commitIntervalChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** The group is one of the streams protocol instead of the classic one. */
    public Pair groupProtocolChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** The session timeout is longer; the protocol is the same. */
    public Pair sessionTimeoutChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** The state stands in another directory. */
    public Pair stateDirChanged() {
        return Pair.same(Settings::countOrders);
    }

    /** The application has more threads; the state stays where it is. */
    public Pair threadsAdded() {
        return Pair.same(Settings::countOrders);
    }

    /** The broker makes topics by itself from now on. */
    public Pair autoCreateEnabled() {
        return Pair.same(Settings::countOrders);
    }

    /** The broker does not make topics by itself any more. */
    public Pair autoCreateDisabled() {
        return Pair.same(Settings::countOrders);
    }

    /** The topic of the orders gets more partitions. */
    public Pair inputPartitionsAddedBeforeCount() {
        return Pair.same(Settings::countOrders);
    }

    /** The topic of the orders gets more partitions; the application has no state. */
    public Pair inputPartitionsAddedWithoutState() {
        return Pair.same(builder -> builder.<String, String>stream("orders", Consumed.as("orders-source"))
                .to("orders-copy", Produced.as("orders-sink")));
    }

    /** Only the output topic gets more partitions. */
    public Pair outputPartitionsAdded() {
        return Pair.same(Settings::countOrders);
    }

    /** One of two joined topics gets more partitions than the other. */
    public Pair partitionsOfOneJoinedTopicAdded() {
        return Pair.same(Settings::ordersOfCustomers);
    }

    /** Both joined topics get more partitions, the same number of them. */
    public Pair partitionsOfBothJoinedTopicsAdded() {
        return Pair.same(Settings::ordersOfCustomers);
    }

    /** The topic of a global table gets more partitions than the stream that is joined with it. */
    public Pair partitionsOfGlobalTableAdded() {
        return Pair.same(builder -> builder.<String, String>stream("orders", Consumed.as("orders-source"))
                .join(
                        builder.<String, String>globalTable("customers", Consumed.as("customers-source")),
                        (id, order) -> order.split(",")[0],
                        (order, customer) -> order + customer,
                        Named.as("with-customer"))
                .to("orders-of-customers", Produced.as("orders-sink")));
    }

    /** The library is a release that drops updates of a table that change nothing. */
    public Pair tableMovedToReleaseThatDropsIdempotentUpdates() {
        return Pair.same(Settings::copyTable);
    }

    /** The library is a newer release, and neither of the two drops updates. */
    public Pair tableMovedToReleaseThatKeepsIdempotentUpdates() {
        return Pair.same(Settings::copyTable);
    }

    /** The library is a release that drops such updates, and the application has no table. */
    public Pair streamMovedToReleaseThatDropsIdempotentUpdates() {
        return Pair.same(builder -> builder.<String, String>stream("orders", Consumed.as("orders-source"))
                .to("orders-copy", Produced.as("orders-sink")));
    }

    /** The library jumps over releases that a count of a regrouped table has to be led across. */
    public Pair regroupedTableMovedAcrossReleases() {
        return Pair.same(builder -> builder.<String, String>table(
                        "customers", Consumed.as("customers-source"), Materialized.as("customers-store"))
                .groupBy((id, customer) -> KeyValue.pair(customer, id), Grouped.as("by-city"))
                .count(Named.as("count-customers"), Materialized.as("customers-per-city")));
    }

    /** An instance with suppressed results is stopped for the next release; nothing of the application changes. */
    public Pair suppressedApplicationRolled() {
        return Pair.same(Settings::suppressed);
    }

    /** An instance without suppressed results is stopped for the next release. */
    public Pair windowedApplicationRolled() {
        return Pair.same(builder -> windowed(builder).toStream(Named.as("changes"))
                .to("order-counts", Produced.as("out")));
    }

    private static void countOrders(StreamsBuilder builder) {
        builder.<String, String>stream("orders", Consumed.as("orders-source"))
                .groupByKey(Grouped.as("by-customer"))
                .count(Named.as("count-orders"), Materialized.as("orders-store"))
                .toStream(Named.as("order-counts"))
                .to("order-counts", Produced.as("order-counts-sink"));
    }

    private static void ordersOfCustomers(StreamsBuilder builder) {
        KTable<String, String> customers =
                builder.table("customers", Consumed.as("customers-source"), Materialized.as("customers-store"));
        builder.<String, String>stream("orders", Consumed.as("orders-source"))
                .join(customers, (order, customer) -> order + customer, Joined.as("with-customer"))
                .to("orders-of-customers", Produced.as("orders-sink"));
    }

    private static void copyTable(StreamsBuilder builder) {
        builder.<String, String>table("customers", Consumed.as("customers-source"), Materialized.as("customers-store"))
                .toStream(Named.as("customer-changes"))
                .to("customers-copy", Produced.as("customers-sink"));
    }

    private static KTable<Windowed<String>, Long> windowed(StreamsBuilder builder) {
        return builder.<String, String>stream("orders", Consumed.as("orders-source"))
                .groupByKey(Grouped.as("by-customer"))
                .windowedBy(Windows.tumbling(ofHours(1), ofMinutes(5)))
                .count(Named.as("count-orders"), Materialized.as("orders-store"));
    }

    private static void suppressed(StreamsBuilder builder) {
        windowed(builder)
                .suppress(untilWindowCloses(unbounded()).withName("final-only"))
                .toStream(Named.as("changes"))
                .to("order-counts", Produced.as("out"));
    }
}
