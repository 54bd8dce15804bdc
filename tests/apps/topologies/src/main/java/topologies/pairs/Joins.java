package topologies.pairs;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;

import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import topologies.Pair;
import topologies.Windows;

/** Streams and tables that are joined. */
public final class Joins {

    /** Views and purchases are joined within two hours instead of one. */
    public Pair joinWindowMadeLarger() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), named()),
                builder -> join(views(builder), purchases(builder), Windows.within(ofHours(2), ofMinutes(5)), named()));
    }

    /** Views and purchases are joined within two hours instead of one, by a join without a name. */
    public Pair unnamedJoinWindowMadeLarger() {
        return Pair.of(
                builder -> unnamedJoin(builder, hour()),
                builder -> unnamedJoin(builder, Windows.within(ofHours(2), ofMinutes(5))));
    }

    /** Late views and purchases are waited for longer. */
    public Pair joinGraceMadeLonger() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), named()),
                builder -> join(views(builder), purchases(builder), Windows.within(ofHours(1), ofHours(1)), named()));
    }

    /** What the join puts together is something else. */
    public Pair joinerChanged() {
        return Pair.of(
                builder -> views(builder)
                        .join(purchases(builder), (view, purchase) -> view + purchase, hour(), named())
                        .to("viewed-and-bought", Produced.as("bought-sink")),
                builder -> views(builder)
                        .join(purchases(builder), (view, purchase) -> purchase + view, hour(), named())
                        .to("viewed-and-bought", Produced.as("bought-sink")));
    }

    /** A filter is put in front of a join without a name: both of its stores have other names. */
    public Pair filterBeforeUnnamedJoin() {
        return Pair.of(
                builder -> unnamedJoin(builder, hour()),
                builder -> builder.<String, String>stream("views")
                        .filter((user, view) -> !view.isEmpty())
                        .join(builder.<String, String>stream("purchases"), Joins::both, hour())
                        .to("viewed-and-bought"));
    }

    /** A filter is put in front of a join with names. */
    public Pair filterBeforeNamedJoin() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), named()),
                builder -> join(
                        views(builder).filter((user, view) -> !view.isEmpty(), Named.as("only-views")),
                        purchases(builder),
                        hour(),
                        named()));
    }

    /** The join gets a name, its stores do not. */
    public Pair nameAddedToUnnamedJoin() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), StreamJoined.with(null, null, null)),
                builder -> join(
                        views(builder),
                        purchases(builder),
                        hour(),
                        StreamJoined.<String, String, String>with(null, null, null).withName("view-purchase")));
    }

    /** The stores of the join get a name, the join does not. */
    public Pair storeNameAddedToUnnamedJoin() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), StreamJoined.with(null, null, null)),
                builder -> join(
                        views(builder), purchases(builder), hour(), StreamJoined.as("view-purchase-store")));
    }

    /** The stores of the join have another name. */
    public Pair joinStoresRenamed() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), named()),
                builder -> join(views(builder), purchases(builder), hour(),
                        StreamJoined.<String, String, String>as("bought-store").withName("view-purchase")));
    }

    /** Views without a purchase are written as well. */
    public Pair innerJoinToLeftJoin() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), named()),
                builder -> leftJoin(builder, hour()));
    }

    /** Views without a purchase are not written any more. */
    public Pair leftJoinToInnerJoin() {
        return Pair.of(
                builder -> leftJoin(builder, hour()),
                builder -> join(views(builder), purchases(builder), hour(), named()));
    }

    /** Purchases are waited for longer before a view is written without one. */
    public Pair leftJoinGraceMadeLonger() {
        return Pair.of(
                builder -> leftJoin(builder, hour()),
                builder -> leftJoin(builder, Windows.within(ofHours(1), ofHours(1))));
    }

    /** An inner join without a name becomes a left join: its second store has another name. */
    public Pair unnamedInnerJoinToLeftJoin() {
        return Pair.of(
                builder -> unnamedJoin(builder, hour()),
                builder -> builder.<String, String>stream("views")
                        .leftJoin(builder.<String, String>stream("purchases"), Joins::both, hour())
                        .to("viewed-and-bought"));
    }

    /** The filter of a joined table gets a store of its own: the join looks into that one. */
    public Pair filterOfJoinedTableMaterialized() {
        return Pair.of(
                builder -> priced(builder, table(builder, "users").filter((user, name) -> !name.isEmpty(), Named.as("known"))),
                builder -> priced(
                        builder,
                        table(builder, "users").filter(
                                (user, name) -> !name.isEmpty(), Named.as("known"), Materialized.as("known-store"))));
    }

    /** The filter of a table gets a store of its own, and the join looks into the table as before. */
    public Pair filterBesideJoinedTableMaterialized() {
        return Pair.of(
                builder -> {
                    KTable<String, String> users = table(builder, "users");
                    users.filter((user, name) -> !name.isEmpty(), Named.as("known"));
                    priced(builder, users);
                },
                builder -> {
                    KTable<String, String> users = table(builder, "users");
                    users.filter((user, name) -> !name.isEmpty(), Named.as("known"), Materialized.as("known-store"));
                    priced(builder, users);
                });
    }

    /** The join looks into a new table of a new topic, which is read from its beginning; the other table stays. */
    public Pair joinedWithTableOfNewTopic() {
        return Pair.of(
                builder -> {
                    KTable<String, String> users = table(builder, "users");
                    out(users);
                    priced(builder, users);
                },
                builder -> {
                    out(table(builder, "users"));
                    priced(builder, table(builder, "members"));
                });
    }

    /** The join looks into a new table of a new topic, which is read from its beginning; the other table goes. */
    public Pair joinedTableReplacedByAnother() {
        return Pair.of(
                builder -> priced(builder, table(builder, "users")), builder -> priced(builder, table(builder, "members")));
    }

    /** Two streams that were copied are joined as well. */
    public Pair streamJoinAdded() {
        return Pair.of(Joins::copied, builder -> {
            KStream<String, String> views = views(builder);
            KStream<String, String> purchases = purchases(builder);
            copied(views, purchases);
            join(views, purchases, hour(), named());
        });
    }

    /** A topic that was copied as it came is a table from now on. */
    public Pair copiedTopicBecomesTable() {
        return Pair.of(
                builder -> builder.<String, String>stream("users", Consumed.as("users-source"))
                        .to("users-copied", Produced.as("out")),
                builder -> builder.<String, String>table(
                                "users", Consumed.as("users-source"), Materialized.as("users-store"))
                        .toStream(Named.as("changes"))
                        .to("users-copied", Produced.as("out")));
    }

    private static void leftJoin(StreamsBuilder builder, JoinWindows windows) {
        views(builder)
                .leftJoin(purchases(builder), Joins::both, windows, named())
                .to("viewed-and-bought", Produced.as("bought-sink"));
    }

    private static void copied(StreamsBuilder builder) {
        copied(views(builder), purchases(builder));
    }

    private static void copied(KStream<String, String> views, KStream<String, String> purchases) {
        views.to("views-copied", Produced.as("views-sink"));
        purchases.to("purchases-copied", Produced.as("purchases-sink"));
    }

    /** The two sides of the join change places. */
    public Pair joinSidesSwapped() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), named()),
                builder -> {
                    KStream<String, String> views = views(builder);
                    join(purchases(builder), views, hour(), named());
                });
    }

    /** One side of the join gets another key, and with it a repartition topic. */
    public Pair selectKeyAddedOnOneSideOfJoin() {
        return Pair.of(
                builder -> join(views(builder), purchases(builder), hour(), named()),
                builder -> join(
                        views(builder),
                        purchases(builder).selectKey((id, purchase) -> purchase.split(",")[0],
                                Named.as("purchase-key")),
                        hour(),
                        named()));
    }

    /** A join of two tables is put where only one of them was written out. */
    public Pair tableJoinAdded() {
        return Pair.of(
                builder -> out(table(builder, "users")),
                builder -> out(table(builder, "users")
                        .join(table(builder, "addresses"), Joins::both, Named.as("user-address"),
                                Materialized.as("user-address-store"))));
    }

    /** The result of a table join gets a store of its own. */
    public Pair tableJoinMaterialized() {
        return Pair.of(
                builder -> out(table(builder, "users")
                        .join(table(builder, "addresses"), Joins::both, Named.as("user-address"))),
                builder -> out(table(builder, "users")
                        .join(table(builder, "addresses"), Joins::both, Named.as("user-address"),
                                Materialized.as("user-address-store"))));
    }

    /** What a table join puts together is something else. */
    public Pair tableJoinerChanged() {
        return Pair.of(
                builder -> out(table(builder, "users")
                        .join(table(builder, "addresses"), Joins::both, Named.as("user-address"),
                                Materialized.as("user-address-store"))),
                builder -> out(table(builder, "users")
                        .join(table(builder, "addresses"), (user, address) -> address + user,
                                Named.as("user-address"), Materialized.as("user-address-store"))));
    }

    /** A filter is put behind one of two unnamed tables, in front of the unnamed, stored join. */
    public Pair filterBeforeUnnamedTableJoin() {
        return Pair.of(
                builder -> builder.<String, String>table("users")
                        .join(builder.<String, String>table("addresses"), Joins::both)
                        .groupBy((user, both) -> KeyValue.pair(both, user))
                        .count()
                        .toStream()
                        .to("users-per-address"),
                builder -> builder.<String, String>table("users")
                        .filter((user, value) -> !value.isEmpty())
                        .join(builder.<String, String>table("addresses"), Joins::both)
                        .groupBy((user, both) -> KeyValue.pair(both, user))
                        .count()
                        .toStream()
                        .to("users-per-address"));
    }

    /** A filter is put in front of a foreign-key join without a name: its topics and its store have other names. */
    public Pair filterBeforeUnnamedForeignKeyJoin() {
        return Pair.of(
                builder -> builder.<String, String>table("orders")
                        .join(builder.<String, String>table("customers"), order -> order.split(",")[0], Joins::both)
                        .toStream()
                        .to("orders-of-customers"),
                builder -> builder.<String, String>table("orders")
                        .filter((id, order) -> !order.isEmpty())
                        .join(builder.<String, String>table("customers"), order -> order.split(",")[0], Joins::both)
                        .toStream()
                        .to("orders-of-customers"));
    }

    /** The foreign key is another field of the order. */
    public Pair foreignKeyComputedFromOtherField() {
        return Pair.of(
                builder -> builder.<String, String>table("orders")
                        .join(builder.<String, String>table("customers"), order -> order.split(",")[0], Joins::both)
                        .toStream()
                        .to("orders-of-customers"),
                builder -> builder.<String, String>table("orders")
                        .join(builder.<String, String>table("customers"), order -> order.split(",")[1], Joins::both)
                        .toStream()
                        .to("orders-of-customers"));
    }

    /** A mapValues is put behind an unnamed foreign-key join, where nothing persistent follows. */
    public Pair mapValuesBehindUnnamedForeignKeyJoin() {
        return Pair.of(
                builder -> builder.<String, String>table("orders")
                        .join(builder.<String, String>table("customers"), order -> order.split(",")[0], Joins::both)
                        .toStream()
                        .to("orders-of-customers"),
                builder -> builder.<String, String>table("orders")
                        .join(builder.<String, String>table("customers"), order -> order.split(",")[0], Joins::both)
                        .toStream()
                        .mapValues(both -> both.trim())
                        .to("orders-of-customers"));
    }

    private static String both(String one, String other) {
        return one + "," + other;
    }

    private static JoinWindows hour() {
        return Windows.within(ofHours(1), ofMinutes(5));
    }

    private static StreamJoined<String, String, String> named() {
        return StreamJoined.<String, String, String>as("view-purchase-store").withName("view-purchase");
    }

    private static KStream<String, String> views(StreamsBuilder builder) {
        return builder.stream("views", Consumed.as("views-source"));
    }

    private static KStream<String, String> purchases(StreamsBuilder builder) {
        return builder.stream("purchases", Consumed.as("purchases-source"));
    }

    private static void join(
            KStream<String, String> views,
            KStream<String, String> purchases,
            JoinWindows windows,
            StreamJoined<String, String, String> joined) {
        views.join(purchases, Joins::both, windows, joined)
                .to("viewed-and-bought", Produced.as("bought-sink"));
    }

    private static void unnamedJoin(StreamsBuilder builder, JoinWindows windows) {
        builder.<String, String>stream("views")
                .join(builder.<String, String>stream("purchases"), Joins::both, windows)
                .to("viewed-and-bought");
    }

    private static KTable<String, String> table(StreamsBuilder builder, String topic) {
        return builder.table(topic, Consumed.as(topic + "-source"), Materialized.as(topic + "-store"));
    }

    private static void priced(StreamsBuilder builder, KTable<String, String> users) {
        views(builder)
                .join(users, Joins::both, Joined.<String, String, String>as("with-user"))
                .to("views-of-users", Produced.as("views-sink"));
    }

    private static void out(KTable<String, String> table) {
        table.toStream(Named.as("changes")).to("users-out", Produced.as("users-sink"));
    }
}
