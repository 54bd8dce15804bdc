package topologies.pairs;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;

/** Changes to an application in which everything has a name of its own. */
public final class OwnNames {

    /** A filter is put between named operators, in front of the count. */
    public Pair filterBeforeNamedCount() {
        return Pair.of(
                builder -> out(countByPage(clicks(builder))),
                builder -> out(countByPage(
                        clicks(builder).filter((user, page) -> !page.isEmpty(), Named.as("only-pages")))));
    }

    /** A filter without a name is put between named operators: nothing persistent is named after it. */
    public Pair unnamedFilterBeforeNamedCount() {
        return Pair.of(
                builder -> out(countByPage(clicks(builder))),
                builder -> out(countByPage(clicks(builder).filter((user, page) -> !page.isEmpty()))));
    }

    /** A mapValues between named operators is removed. */
    public Pair mapValuesRemovedBetweenNamedOperators() {
        return Pair.of(
                builder -> out(countByPage(clicks(builder).mapValues(page -> page.trim(), Named.as("trim")))),
                builder -> out(countByPage(clicks(builder))));
    }

    /** What the filter lets through is something else; it is the same filter. */
    public Pair filterConditionChanged() {
        return Pair.of(
                builder -> out(countByPage(
                        clicks(builder).filter((user, page) -> !page.isEmpty(), Named.as("only-pages")))),
                builder -> out(countByPage(
                        clicks(builder).filter((user, page) -> page.length() > 3, Named.as("only-pages")))));
    }

    /** The value of a mapValues has a field more. */
    public Pair mapValuesFieldAdded() {
        return Pair.of(
                builder -> clicks(builder)
                        .mapValues((user, page) -> "{\"page\":\"" + page + "\"}", Named.as("to-json"))
                        .to("clicks-json", Produced.as("clicks-json-sink")),
                builder -> clicks(builder)
                        .mapValues(
                                (user, page) -> "{\"page\":\"" + page + "\",\"user\":\"" + user + "\"}",
                                Named.as("to-json"))
                        .to("clicks-json", Produced.as("clicks-json-sink")));
    }

    /** The store of the count has another name. */
    public Pair countStoreRenamed() {
        return Pair.of(
                builder -> out(countByPage(clicks(builder), "by-page", "count-clicks", "clicks-per-page")),
                builder -> out(countByPage(clicks(builder), "by-page", "count-clicks", "page-clicks")));
    }

    /** The processor of the count has another name, its store keeps its own. */
    public Pair countProcessorRenamed() {
        return Pair.of(
                builder -> out(countByPage(clicks(builder), "by-page", "count-clicks", "clicks-per-page")),
                builder -> out(countByPage(clicks(builder), "by-page", "click-counter", "clicks-per-page")));
    }

    /** The grouping has another name, and with it the repartition topic. */
    public Pair groupingRenamed() {
        return Pair.of(
                builder -> out(countByPage(clicks(builder), "by-page", "count-clicks", "clicks-per-page")),
                builder -> out(countByPage(clicks(builder), "by-url", "count-clicks", "clicks-per-page")));
    }

    /** The grouping by the key as it is has another name; there is no repartition topic. */
    public Pair groupByKeyRenamedWithoutRepartition() {
        return Pair.of(builder -> out(countByUser(clicks(builder), "by-user")), builder ->
                out(countByUser(clicks(builder), "per-user")));
    }

    /** The source and the sink have other names; the topics are the same. */
    public Pair sourceAndSinkRenamed() {
        return Pair.of(
                builder -> builder.<String, String>stream("clicks", Consumed.as("clicks-source"))
                        .to("clicks-copy", Produced.as("clicks-sink")),
                builder -> builder.<String, String>stream("clicks", Consumed.as("website-clicks"))
                        .to("clicks-copy", Produced.as("copied-clicks")));
    }

    /** Two branches of one stream, each with named operators, change places in the code. */
    public Pair namedBranchesOfOneStreamSwapped() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    out(countByUser(clicks, "by-user"));
                    clicks.filter((user, page) -> page.isEmpty(), Named.as("without-page"))
                            .to("clicks-without-page", Produced.as("clicks-without-page-sink"));
                },
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    clicks.filter((user, page) -> page.isEmpty(), Named.as("without-page"))
                            .to("clicks-without-page", Produced.as("clicks-without-page-sink"));
                    out(countByUser(clicks, "by-user"));
                });
    }

    /** Two counts of one stream, all named, change places in the code. */
    public Pair namedCountsOfOneStreamSwapped() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    countInto(clicks, "clicks-per-user");
                    countInto(clicks.filter((user, page) -> page.startsWith("shop"), Named.as("shop")), "shop-clicks");
                },
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    countInto(clicks.filter((user, page) -> page.startsWith("shop"), Named.as("shop")), "shop-clicks");
                    countInto(clicks, "clicks-per-user");
                });
    }

    /** The names of two stores of the same kind are exchanged: each count reads the other's data. */
    public Pair namesOfTwoStoresExchanged() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    countInto(clicks, "all", "clicks-per-user");
                    countInto(clicks.filter((user, page) -> page.startsWith("shop"), Named.as("shop")), "some",
                            "shop-clicks");
                },
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    countInto(clicks, "all", "shop-clicks");
                    countInto(clicks.filter((user, page) -> page.startsWith("shop"), Named.as("shop")), "some",
                            "clicks-per-user");
                });
    }

    /** A foreach that only writes to the log is put at the end of a branch. */
    public Pair loggingForeachAdded() {
        return Pair.of(builder -> out(countByUser(clicks(builder), "by-user")), builder -> {
            KTable<String, Long> counts = countByUser(clicks(builder), "by-user");
            counts.toStream(Named.as("logged-changes"))
                    .foreach((user, count) -> System.out.println(user + " " + count), Named.as("log"));
            out(counts);
        });
    }

    /** A peek is put in front of the count, with a name. */
    public Pair peekBeforeNamedCount() {
        return Pair.of(
                builder -> out(countByUser(clicks(builder), "by-user")),
                builder -> out(countByUser(
                        clicks(builder).peek((user, page) -> System.out.println(page), Named.as("seen")), "by-user")));
    }

    /** The count's store is left without a name: a generated one takes its place. */
    public Pair storeNameRemovedFromCount() {
        return Pair.of(
                builder -> out(countByUser(clicks(builder), "by-user")),
                builder -> out(clicks(builder).groupByKey(Grouped.as("by-user")).count(Named.as("count-clicks"))));
    }

    private static KStream<String, String> clicks(StreamsBuilder builder) {
        return builder.stream("clicks", Consumed.as("clicks-source"));
    }

    private static KTable<String, Long> countByPage(KStream<String, String> clicks) {
        return countByPage(clicks, "by-page", "count-clicks", "clicks-per-page");
    }

    private static KTable<String, Long> countByPage(
            KStream<String, String> clicks, String grouping, String processor, String store) {
        return clicks.groupBy((user, page) -> page, Grouped.as(grouping))
                .count(Named.as(processor), Materialized.as(store));
    }

    private static KTable<String, Long> countByUser(KStream<String, String> clicks, String grouping) {
        return clicks.groupByKey(Grouped.as(grouping))
                .count(Named.as("count-clicks"), Materialized.as("clicks-per-user"));
    }

    private static void countInto(KStream<String, String> clicks, String store) {
        countInto(clicks, store, store);
    }

    private static void countInto(KStream<String, String> clicks, String name, String store) {
        clicks.groupByKey(Grouped.as(name + "-grouped")).count(Named.as(name + "-count"), Materialized.as(store));
    }

    private static void out(KTable<String, Long> counts) {
        counts.toStream(Named.as("count-changes")).to("total-clicks", Produced.as("total-clicks-sink"));
    }
}
