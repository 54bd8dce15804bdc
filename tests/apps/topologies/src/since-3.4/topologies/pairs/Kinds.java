package topologies.pairs;

import java.util.Arrays;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Aggregator;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.state.KeyValueStore;
import topologies.Pair;

/** Operators that take over a store of another kind: the names stay, and what the store holds means something else. */
public final class Kinds {

    /** The store of a count goes on under a reduce, which adds the amounts; the operators have no names. */
    public Pair countBecomesReduce() {
        return Pair.of(
                builder -> outUnnamed(amounts(builder).groupByKey().count(kept("totals"))),
                builder -> outUnnamed(amounts(builder).groupByKey().reduce(Long::sum, kept("totals"))));
    }

    /** The count is written as an aggregate, which does the same. */
    public Pair countWrittenAsAggregate() {
        return Pair.of(
                builder -> outUnnamed(amounts(builder).groupByKey().count(kept("totals"))),
                builder -> outUnnamed(amounts(builder)
                        .groupByKey()
                        .aggregate(() -> 0L, (account, amount, count) -> count + 1, kept("totals"))));
    }

    /** The store of a count goes on under an aggregate that adds the amounts: nothing in the text shows it. */
    public Pair countBecomesSum() {
        return countBecomes((account, amount, sum) -> sum + amount);
    }

    /** A reduce of a table takes over the store of the count of a table. */
    public Pair tableCountBecomesReduce() {
        return Pair.of(
                builder -> outUnnamed(balances(builder).groupBy(Kinds::byBranch, byBranch()).count(kept("totals"))),
                builder -> outUnnamed(balances(builder)
                        .groupBy(Kinds::byBranch, byBranch())
                        .reduce(Long::sum, (sum, amount) -> sum - amount, kept("totals"))));
    }

    /** Events are no longer counted, but the accounts of a table are, under the same names. */
    public Pair streamCountBecomesTableCount() {
        return Pair.of(
                builder -> out(amounts(builder)
                        .groupBy((account, amount) -> branch(account), byBranch())
                        .count(Named.as("count"), kept("totals"))),
                builder -> out(balances(builder)
                        .groupBy(Kinds::byBranch, byBranch())
                        .count(Named.as("count"), kept("totals"))));
    }

    /** The table behind a stream is counted by another key; both sides are counts of events. */
    public Pair streamCountGetsFilterBeforeGrouping() {
        return Pair.of(
                builder -> out(amounts(builder)
                        .groupBy((account, amount) -> branch(account), byBranch())
                        .count(Named.as("count"), kept("totals"))),
                builder -> out(amounts(builder)
                        .filter((account, amount) -> amount > 0, Named.as("positive"))
                        .groupBy((account, amount) -> branch(account), byBranch())
                        .count(Named.as("count"), kept("totals"))));
    }

    /** The foreign-key join becomes a left join: every name stays. */
    public Pair foreignKeyJoinBecomesLeftJoin() {
        return Pair.of(builder -> foreignKeyJoin(builder, false), builder -> foreignKeyJoin(builder, true));
    }

    /** The tables of a foreign-key join change places under the names that it had. */
    public Pair foreignKeyJoinSidesSwapped() {
        return Pair.of(
                builder -> foreignKeyJoin(builder, "accounts", "owners"),
                builder -> foreignKeyJoin(builder, "owners", "accounts"));
    }

    /** Only the lines of the program that build the two tables change places. */
    public Pair foreignKeyJoinTablesBuiltInOtherOrder() {
        return Pair.of(
                builder -> {
                    KTable<String, String> accounts = table(builder, "accounts");
                    foreignKeyJoin(accounts, table(builder, "owners"));
                },
                builder -> {
                    KTable<String, String> owners = table(builder, "owners");
                    foreignKeyJoin(table(builder, "accounts"), owners);
                });
    }

    /** The join of two tables becomes a left join, whose result is kept. */
    public Pair keptTableJoinBecomesLeftJoin() {
        return Pair.of(builder -> keptJoin(builder, false), builder -> keptJoin(builder, true));
    }

    /** The count loses its changelog: {@code withLoggingDisabled}. */
    public Pair loggingOfCountDisabled() {
        return Pair.of(
                builder -> out(amounts(builder).groupByKey().count(Named.as("count"), kept("totals"))),
                builder -> out(amounts(builder)
                        .groupByKey()
                        .count(Named.as("count"), Kinds.<Long>kept("totals").withLoggingDisabled())));
    }

    /** The count gets a changelog that it did not have. */
    public Pair loggingOfCountEnabled() {
        Pair disabled = loggingOfCountDisabled();
        return new Pair(disabled.after(), disabled.before());
    }

    /** A second stream is merged into the one that is counted. */
    public Pair streamMergedBeforeCount() {
        return Pair.of(
                builder -> out(amounts(builder).groupByKey().count(Named.as("count"), kept("totals"))),
                builder -> out(amounts(builder)
                        .merge(stream(builder, "refunds"), Named.as("all-amounts"))
                        .groupByKey()
                        .count(Named.as("count"), kept("totals"))));
    }

    /** A second topic is read by the source that is counted. */
    public Pair topicReadByCountedSourceAsWell() {
        return Pair.of(
                builder -> out(builder.<String, Long>stream("amounts", Consumed.as("amounts-source"))
                        .groupByKey()
                        .count(Named.as("count"), kept("totals"))),
                builder -> out(builder.<String, Long>stream(
                                Arrays.asList("amounts", "refunds"), Consumed.as("amounts-source"))
                        .groupByKey()
                        .count(Named.as("count"), kept("totals"))));
    }

    /** A second stream is merged before a repartition, which gives both the same partitions. */
    public Pair streamMergedBeforeRepartition() {
        return Pair.of(
                builder -> out(amounts(builder)
                        .groupBy((account, amount) -> branch(account), byBranch())
                        .count(Named.as("count"), kept("totals"))),
                builder -> out(amounts(builder)
                        .merge(stream(builder, "refunds"), Named.as("all-amounts"))
                        .groupBy((account, amount) -> branch(account), byBranch())
                        .count(Named.as("count"), kept("totals"))));
    }

    /** One of two counts of a stream is taken out. */
    public Pair oneOfTwoNamedCountsRemoved() {
        return Pair.of(builder -> counts(builder, true), builder -> counts(builder, false));
    }

    /** A second count of a stream is added. */
    public Pair secondNamedCountAdded() {
        return Pair.of(builder -> counts(builder, false), builder -> counts(builder, true));
    }

    /** Two global tables are built in the other order. */
    public Pair globalTablesExchanged() {
        return Pair.of(
                builder -> {
                    out(amounts(builder).groupByKey().count(Named.as("count"), kept("totals")));
                    global(builder, "rates");
                    global(builder, "limits");
                },
                builder -> {
                    out(amounts(builder).groupByKey().count(Named.as("count"), kept("totals")));
                    global(builder, "limits");
                    global(builder, "rates");
                });
    }

    private static void counts(StreamsBuilder builder, boolean both) {
        KStream<String, Long> amounts = amounts(builder);
        out(amounts.groupByKey().count(Named.as("count"), kept("totals")));
        if (both) {
            amounts.filter((account, amount) -> amount > 100, Named.as("large"))
                    .groupByKey()
                    .count(Named.as("count-large"), kept("large-totals"));
        }
    }

    private static void global(StreamsBuilder builder, String topic) {
        builder.globalTable(topic, Consumed.<String, String>as(topic + "-source"), Materialized.as(topic + "-table"));
    }

    private static Pair countBecomes(Aggregator<String, Long, Long> after) {
        Consumer<StreamsBuilder> count = builder -> out(amounts(builder)
                .groupByKey()
                .aggregate(() -> 0L, (account, amount, sum) -> sum + 1, Named.as("total"), kept("totals")));
        return Pair.of(
                count,
                builder -> out(amounts(builder)
                        .groupByKey()
                        .aggregate(() -> 0L, after, Named.as("total"), kept("totals"))));
    }

    private static KStream<String, Long> amounts(StreamsBuilder builder) {
        return stream(builder, "amounts");
    }

    private static KStream<String, Long> stream(StreamsBuilder builder, String topic) {
        return builder.stream(topic, Consumed.as(topic + "-source"));
    }

    private static KTable<String, Long> balances(StreamsBuilder builder) {
        return builder.table("balances", Consumed.as("balances-source"), Materialized.as("balances-store"));
    }

    private static KTable<String, String> table(StreamsBuilder builder, String topic) {
        return builder.table(topic, Consumed.as(topic + "-source"), Materialized.as(topic + "-table"));
    }

    private static String branch(String account) {
        return account.substring(0, 2);
    }

    private static KeyValue<String, Long> byBranch(String account, Long balance) {
        return KeyValue.pair(branch(account), balance);
    }

    private static Grouped<String, Long> byBranch() {
        return Grouped.with("by-branch", Serdes.String(), Serdes.Long());
    }

    private static <V> Materialized<String, V, KeyValueStore<Bytes, byte[]>> kept(String store) {
        return Materialized.as(store);
    }

    private static void foreignKeyJoin(StreamsBuilder builder, boolean left) {
        KTable<String, String> accounts = table(builder, "accounts");
        KTable<String, String> owners = table(builder, "owners");
        if (left) {
            outTexts(accounts.leftJoin(owners, Kinds::owner, Kinds::both, tableJoined(), Kinds.kept("joined")));
        } else {
            outTexts(accounts.join(owners, Kinds::owner, Kinds::both, tableJoined(), Kinds.kept("joined")));
        }
    }

    private static void foreignKeyJoin(StreamsBuilder builder, String left, String right) {
        KTable<String, String> one = table(builder, left);
        foreignKeyJoin(one, table(builder, right));
    }

    private static void foreignKeyJoin(KTable<String, String> left, KTable<String, String> right) {
        outTexts(left.join(right, Kinds::owner, Kinds::both, tableJoined(), Kinds.kept("joined")));
    }

    private static TableJoined<String, String> tableJoined() {
        return TableJoined.as("account-owner");
    }

    private static void keptJoin(StreamsBuilder builder, boolean left) {
        KTable<String, String> accounts = table(builder, "accounts");
        KTable<String, String> owners = table(builder, "owners");
        if (left) {
            outTexts(accounts.leftJoin(owners, Kinds::both, Named.as("account-owner"), Kinds.kept("joined")));
        } else {
            outTexts(accounts.join(owners, Kinds::both, Named.as("account-owner"), Kinds.kept("joined")));
        }
    }

    private static String owner(String account) {
        return account.split(",")[0];
    }

    private static String both(String one, String other) {
        return one + "," + other;
    }

    private static void out(KTable<String, Long> totals) {
        totals.toStream(Named.as("changes")).to("totals-out", Produced.as("totals-sink"));
    }

    private static void outUnnamed(KTable<String, Long> totals) {
        totals.toStream().to("totals-out");
    }

    private static void outTexts(KTable<String, String> joined) {
        joined.toStream(Named.as("changes")).to("joined-out", Produced.as("joined-sink"));
    }
}
