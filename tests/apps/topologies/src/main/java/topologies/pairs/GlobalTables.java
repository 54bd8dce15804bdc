package topologies.pairs;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;
import topologies.Pair;

/** Global tables: added, removed, moved, with another store or another topic. */
public final class GlobalTables {

    /** A global table is declared in front of the stream that is joined with it. */
    public Pair globalTableAddedBeforeStream() {
        return Pair.of(GlobalTables::countPayments, builder -> {
            GlobalKTable<String, String> rates = rates(builder, "rates-store");
            withRates(payments(builder), rates);
        });
    }

    /** A global table is declared behind the stream that is joined with it. */
    public Pair globalTableAddedBehindStream() {
        return Pair.of(GlobalTables::countPayments, builder -> {
            KStream<String, String> payments = payments(builder);
            withRates(payments, rates(builder, "rates-store"));
        });
    }

    /** The global table in front of the stream is not needed any more. */
    public Pair globalTableBeforeStreamRemoved() {
        return Pair.of(
                builder -> {
                    GlobalKTable<String, String> rates = rates(builder, "rates-store");
                    withRates(payments(builder), rates);
                },
                GlobalTables::countPayments);
    }

    /** The declaration of a global table moves from in front of the stream to behind it. */
    public Pair globalTableMovedBehindStream() {
        return Pair.of(
                builder -> {
                    GlobalKTable<String, String> rates = rates(builder, "rates-store");
                    withRates(payments(builder), rates);
                },
                builder -> {
                    KStream<String, String> payments = payments(builder);
                    withRates(payments, rates(builder, "rates-store"));
                });
    }

    /** The store of a global table has another name. */
    public Pair globalTableStoreRenamed() {
        return Pair.of(
                builder -> withRates(payments(builder), rates(builder, "rates-store")),
                builder -> withRates(payments(builder), rates(builder, "exchange-rates")));
    }

    /** A global table reads another topic. */
    public Pair globalTableTopicChanged() {
        return Pair.of(
                builder -> withRates(payments(builder), rates(builder, "rates-store", "rates")),
                builder -> withRates(payments(builder), rates(builder, "rates-store", "rates-v2")));
    }

    /** One of two global tables that a stream is joined with is not needed any more. */
    public Pair oneOfTwoGlobalTablesRemoved() {
        return Pair.of(
                GlobalTables::withUsersAndRates, builder -> withRates(payments(builder), rates(builder, "rates-store")));
    }

    /** A stream that is joined with a global table is joined with a second one. */
    public Pair secondGlobalTableAdded() {
        return Pair.of(
                builder -> withRates(payments(builder), rates(builder, "rates-store")), GlobalTables::withUsersAndRates);
    }

    /** A global table of rows in memory gets a second one in memory next to it. */
    public Pair secondGlobalTableInMemoryAdded() {
        return Pair.of(
                builder -> withRates(payments(builder), ratesInMemory(builder, "rates-store", "rates")),
                builder -> withRates(
                        withUser(payments(builder), builder.globalTable(
                                "users",
                                Consumed.as("users-source"),
                                Materialized.as(Stores.inMemoryKeyValueStore("users-store")))),
                        ratesInMemory(builder, "rates-store", "rates")));
    }

    /** The only global table is not needed any more; the stream in front of it keeps its number. */
    public Pair onlyGlobalTableRemoved() {
        return Pair.of(
                builder -> {
                    KStream<String, String> payments = payments(builder);
                    withRates(payments, rates(builder, "rates-store"));
                },
                GlobalTables::countPayments);
    }

    /** The store of a global table has another name, and keeps its rows in memory alone. */
    public Pair globalStoreInMemoryRenamed() {
        return Pair.of(
                builder -> withRates(payments(builder), ratesInMemory(builder, "rates-store", "rates")),
                builder -> withRates(payments(builder), ratesInMemory(builder, "exchange-rates", "rates")));
    }

    /** A global table whose store keeps its rows in memory alone reads another topic. */
    public Pair globalStoreInMemoryReadsOtherTopic() {
        return Pair.of(
                builder -> withRates(payments(builder), ratesInMemory(builder, "rates-store", "rates")),
                builder -> withRates(payments(builder), ratesInMemory(builder, "rates-store", "rates-v2")));
    }

    /** What a join with a global table puts together is something else. */
    public Pair globalTableJoinerChanged() {
        return Pair.of(
                builder -> payments(builder)
                        .join(rates(builder, "rates-store"), (user, payment) -> payment.substring(0, 3),
                                (payment, rate) -> payment + rate, Named.as("with-rates"))
                        .to("rated", Produced.as("rated-sink")),
                builder -> payments(builder)
                        .join(rates(builder, "rates-store"), (user, payment) -> payment.substring(0, 3),
                                (payment, rate) -> payment + " at " + rate, Named.as("with-rates"))
                        .to("rated", Produced.as("rated-sink")));
    }

    /** A global table becomes a table that is co-partitioned with the stream. */
    public Pair globalTableToTable() {
        return Pair.of(GlobalTables::withGlobalUsers, GlobalTables::withUsersOfTask);
    }

    /** A table that is co-partitioned with the stream becomes a global table. */
    public Pair tableToGlobalTable() {
        return Pair.of(GlobalTables::withUsersOfTask, GlobalTables::withGlobalUsers);
    }

    private static void withGlobalUsers(StreamsBuilder builder) {
        payments(builder)
                .join(
                        users(builder),
                        (user, payment) -> user,
                        (payment, user) -> payment + user,
                        Named.as("with-user"))
                .to("payments-of-users", Produced.as("out"));
    }

    private static void withUsersOfTask(StreamsBuilder builder) {
        payments(builder)
                .join(
                        builder.<String, String>table(
                                "users", Consumed.as("users-source"), Materialized.as("users-store")),
                        (payment, user) -> payment + user,
                        Joined.as("with-user"))
                .to("payments-of-users", Produced.as("out"));
    }

    private static void withUsersAndRates(StreamsBuilder builder) {
        withRates(withUser(payments(builder), users(builder)), rates(builder, "rates-store"));
    }

    private static KStream<String, String> withUser(
            KStream<String, String> payments, GlobalKTable<String, String> users) {
        return payments.leftJoin(users, (user, payment) -> user, (payment, user) -> payment, Named.as("with-user"));
    }

    private static GlobalKTable<String, String> users(StreamsBuilder builder) {
        return builder.globalTable("users", Consumed.as("users-source"), Materialized.as("users-store"));
    }

    private static GlobalKTable<String, String> rates(StreamsBuilder builder, String store) {
        return rates(builder, store, "rates");
    }

    private static GlobalKTable<String, String> rates(StreamsBuilder builder, String store, String topic) {
        return builder.globalTable(topic, Consumed.as("rates-source"), Materialized.as(store));
    }

    private static GlobalKTable<String, String> ratesInMemory(StreamsBuilder builder, String store, String topic) {
        return builder.globalTable(
                topic, Consumed.as("rates-source"), Materialized.as(Stores.inMemoryKeyValueStore(store)));
    }

    private static void withRates(KStream<String, String> payments, GlobalKTable<String, String> rates) {
        count(payments.join(
                        rates,
                        (user, payment) -> payment.substring(0, 3),
                        (payment, rate) -> payment + rate,
                        Named.as("with-rates"))
                .groupByKey(Grouped.as("by-user")));
    }

    private static KStream<String, String> payments(StreamsBuilder builder) {
        return builder.stream("payments", Consumed.as("payments-source"));
    }

    private static void countPayments(StreamsBuilder builder) {
        count(payments(builder).groupByKey(Grouped.as("by-user")));
    }

    private static void count(KGroupedStream<String, String> payments) {
        payments.count(Named.as("count-payments"), Materialized.as("payments-store"))
                .toStream(Named.as("payment-counts"))
                .to("payment-counts", Produced.as("payment-counts-sink"));
    }
}
