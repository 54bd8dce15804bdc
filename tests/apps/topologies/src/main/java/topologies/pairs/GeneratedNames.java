package topologies.pairs;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;

/** What happens to names that the library generates. */
public final class GeneratedNames {

    /** A filter is put in front of a count by another key; neither the grouping nor the count has a name. */
    public Pair filterBeforeUnnamedGroupBy() {
        return Pair.of(
                builder -> clicks(builder)
                        .groupBy((user, page) -> page)
                        .count()
                        .toStream()
                        .to("clicks-per-page"),
                builder -> clicks(builder)
                        .filter((user, page) -> !page.isEmpty())
                        .groupBy((user, page) -> page)
                        .count()
                        .toStream()
                        .to("clicks-per-page"));
    }

    /** A filter is put behind the unnamed count, where no store and no topic gets its name any more. */
    public Pair filterBehindUnnamedCount() {
        return Pair.of(
                builder -> clicks(builder).groupByKey().count().toStream().to("total-clicks"),
                builder -> clicks(builder)
                        .groupByKey()
                        .count()
                        .toStream()
                        .filter((user, count) -> count > 1)
                        .to("total-clicks"));
    }

    /** A filter in front of an unnamed count becomes a mapValues: another operator with the same index. */
    public Pair filterReplacedByMapValuesBeforeUnnamedCount() {
        return Pair.of(
                builder -> clicks(builder)
                        .filter((user, page) -> !page.isEmpty())
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"),
                builder -> clicks(builder)
                        .mapValues(page -> page.trim())
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"));
    }

    /** A filter is put in front of the count, and the store is pinned to the name that was generated for it. */
    public Pair filterBeforeCountStorePinnedToOldName() {
        return Pair.of(
                builder -> clicks(builder).groupByKey().count().toStream().to("total-clicks"),
                builder -> clicks(builder)
                        .filter((user, page) -> !page.isEmpty())
                        .groupByKey()
                        .count(Materialized.as("KSTREAM-AGGREGATE-STATE-STORE-0000000001"))
                        .toStream()
                        .to("total-clicks"));
    }

    /** A filter with a name is put in front of a count without one: the name does not save the index. */
    public Pair namedFilterBeforeUnnamedCount() {
        return Pair.of(
                builder -> clicks(builder).groupByKey().count().toStream().to("total-clicks"),
                builder -> clicks(builder)
                        .filter((user, page) -> !page.isEmpty(), Named.as("only-pages"))
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"));
    }

    /** The first of two unnamed counts is removed: the second takes over its names. */
    public Pair firstOfTwoUnnamedCountsRemoved() {
        return Pair.of(
                builder -> {
                    countUnnamed(builder, "clicks");
                    countUnnamed(builder, "purchases");
                },
                builder -> countUnnamed(builder, "purchases"));
    }

    /** The first of two unnamed counts by another key is removed: the second takes over its repartition topic. */
    public Pair firstOfTwoUnnamedGroupBysRemoved() {
        return Pair.of(
                builder -> {
                    countByValueUnnamed(builder, "clicks");
                    countByValueUnnamed(builder, "purchases");
                },
                builder -> countByValueUnnamed(builder, "purchases"));
    }

    /** An unnamed count is put in front of another one and takes over its names. */
    public Pair unnamedCountAddedBeforeUnnamedCount() {
        return Pair.of(
                builder -> countUnnamed(builder, "purchases"),
                builder -> {
                    countUnnamed(builder, "clicks");
                    countUnnamed(builder, "purchases");
                });
    }

    /** An unnamed count is put behind another one. */
    public Pair unnamedCountAddedBehindUnnamedCount() {
        return Pair.of(
                builder -> countUnnamed(builder, "purchases"),
                builder -> {
                    countUnnamed(builder, "purchases");
                    countUnnamed(builder, "clicks");
                });
    }

    /** The unnamed reduce before an unnamed count is removed: the count gets the reduce's index, not its name. */
    public Pair unnamedReduceBeforeUnnamedCountRemoved() {
        return Pair.of(
                builder -> {
                    builder.<String, String>stream("clicks")
                            .groupByKey()
                            .reduce((last, next) -> next)
                            .toStream()
                            .to("last-clicks");
                    countUnnamed(builder, "purchases");
                },
                builder -> countUnnamed(builder, "purchases"));
    }

    /** The filter in front of the first of two unnamed counts moves in front of the second. */
    public Pair filterMovedFromFirstToSecondUnnamedCount() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    clicks.filter((user, page) -> !page.isEmpty()).groupByKey().count().toStream()
                            .to("clicks-per-user");
                    clicks.groupBy((user, page) -> page).count().toStream().to("clicks-per-page");
                },
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    clicks.groupByKey().count().toStream().to("clicks-per-user");
                    clicks.filter((user, page) -> !page.isEmpty())
                            .groupBy((user, page) -> page)
                            .count()
                            .toStream()
                            .to("clicks-per-page");
                });
    }

    /** Two unnamed counts change places in the code. */
    public Pair unnamedCountsSwapped() {
        return Pair.of(
                builder -> {
                    countUnnamed(builder, "clicks");
                    countUnnamed(builder, "purchases");
                },
                builder -> {
                    countUnnamed(builder, "purchases");
                    countUnnamed(builder, "clicks");
                });
    }

    /** Two unnamed counts of one stream change places; each keeps its filter and its output. */
    public Pair unnamedCountsOfOneStreamSwapped() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    countTo(clicks, "clicks-per-user");
                    countTo(clicks.filter((user, page) -> page.startsWith("shop")), "shop-clicks-per-user");
                },
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    countTo(clicks.filter((user, page) -> page.startsWith("shop")), "shop-clicks-per-user");
                    countTo(clicks, "clicks-per-user");
                });
    }

    /** An unnamed count and an unnamed reduce change places: their stores carry their kind in the name. */
    public Pair unnamedCountAndReduceSwapped() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    clicks.groupByKey().count().toStream().to("clicks-per-user");
                    clicks.groupByKey().reduce((last, next) -> next).toStream().to("last-clicks");
                },
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    clicks.groupByKey().reduce((last, next) -> next).toStream().to("last-clicks");
                    clicks.groupByKey().count().toStream().to("clicks-per-user");
                });
    }

    /** One of two identical unnamed counts of one stream, both only queried, is removed. */
    public Pair oneOfTwoIdenticalUnnamedCountsRemoved() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    clicks.groupByKey().count();
                    clicks.groupByKey().count();
                },
                builder -> clicks(builder).groupByKey().count());
    }

    /** Two filters, each before an unnamed count that is only queried; one of the two branches is removed. */
    public Pair oneOfTwoIdenticalFilteredCountsRemoved() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    clicks.filter((user, page) -> page.startsWith("shop")).groupByKey().count();
                    clicks.filter((user, page) -> page.startsWith("help")).groupByKey().count();
                },
                builder -> clicks(builder)
                        .filter((user, page) -> page.startsWith("help"))
                        .groupByKey()
                        .count());
    }

    /** One of two unnamed counts of one stream is removed; their outputs tell them apart. */
    public Pair oneOfTwoUnnamedCountsWithOutputsRemoved() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = clicks(builder);
                    countTo(clicks, "clicks-per-user");
                    countTo(clicks, "clicks-per-user-for-billing");
                },
                builder -> countTo(clicks(builder), "clicks-per-user-for-billing"));
    }

    /** The unnamed count gets a name for its store: the old changelog is left behind. */
    public Pair storeNameAddedToUnnamedCount() {
        return Pair.of(
                builder -> clicks(builder).groupByKey().count().toStream().to("total-clicks"),
                builder -> clicks(builder)
                        .groupByKey()
                        .count(Materialized.as("clicks-per-user"))
                        .toStream()
                        .to("total-clicks"));
    }

    /** The first of two unnamed counts gets a name for its store; the second has its index shifted by that. */
    public Pair storeNameAddedToFirstOfTwoUnnamedCounts() {
        return Pair.of(
                builder -> {
                    countUnnamed(builder, "clicks");
                    countUnnamed(builder, "purchases");
                },
                builder -> {
                    builder.<String, String>stream("clicks")
                            .groupByKey()
                            .count(Materialized.as("clicks-per-user"))
                            .toStream()
                            .to("clicks-counted");
                    countUnnamed(builder, "purchases");
                });
    }

    /** The grouping gets a name: the repartition topic, named after the store until now, is another one. */
    public Pair nameAddedToGroupingWithNamedStore() {
        return Pair.of(
                builder -> clicks(builder)
                        .groupBy((user, page) -> page)
                        .count(Materialized.as("clicks-per-page"))
                        .toStream()
                        .to("clicks-per-page-out"),
                builder -> clicks(builder)
                        .groupBy((user, page) -> page, Grouped.as("by-page"))
                        .count(Materialized.as("clicks-per-page"))
                        .toStream()
                        .to("clicks-per-page-out"));
    }

    /** The groupByKey in front of an unnamed count gets a name; there is no repartition topic to carry it. */
    public Pair nameAddedToGroupByKeyWithoutRepartition() {
        return Pair.of(
                builder -> clicks(builder).groupByKey().count().toStream().to("total-clicks"),
                builder -> clicks(builder).groupByKey(Grouped.as("by-user")).count().toStream().to("total-clicks"));
    }

    /** Source, filter, toStream and sink get names; the unnamed count between them keeps its store. */
    public Pair namesAddedAroundUnnamedCount() {
        return Pair.of(
                builder -> clicks(builder)
                        .filter((user, page) -> !page.isEmpty())
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"),
                builder -> builder.<String, String>stream("clicks", Consumed.as("clicks-source"))
                        .filter((user, page) -> !page.isEmpty(), Named.as("only-pages"))
                        .groupByKey()
                        .count()
                        .toStream(Named.as("count-changes"))
                        .to("total-clicks", Produced.as("total-clicks-sink")));
    }

    /** The processor of an unnamed count gets a name, its store does not. */
    public Pair processorNameAddedToUnnamedCount() {
        return Pair.of(
                builder -> clicks(builder).groupByKey().count().toStream().to("total-clicks"),
                builder -> clicks(builder)
                        .groupByKey()
                        .count(Named.as("count-clicks"))
                        .toStream()
                        .to("total-clicks"));
    }

    /** Every operator of an application without state gets a name. */
    public Pair namesAddedToStatelessApplication() {
        return Pair.of(
                builder -> clicks(builder)
                        .filter((user, page) -> !page.isEmpty())
                        .mapValues(page -> page.trim())
                        .to("clean-clicks"),
                builder -> builder.<String, String>stream("clicks", Consumed.as("clicks-source"))
                        .filter((user, page) -> !page.isEmpty(), Named.as("only-pages"))
                        .mapValues(page -> page.trim(), Named.as("trim"))
                        .to("clean-clicks", Produced.as("clean-clicks-sink")));
    }

    /** An application without state, and without names, gets a filter. */
    public Pair filterAddedToUnnamedStatelessApplication() {
        return Pair.of(
                builder -> clicks(builder).mapValues(page -> page.trim()).to("clean-clicks"),
                builder -> clicks(builder)
                        .filter((user, page) -> !page.isEmpty())
                        .mapValues(page -> page.trim())
                        .to("clean-clicks"));
    }

    /** The value that the unnamed application computes is another one; all operators stay. */
    public Pair lambdaChangedInUnnamedApplication() {
        return Pair.of(
                builder -> clicks(builder)
                        .mapValues(page -> page.trim())
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"),
                builder -> clicks(builder)
                        .mapValues(page -> page.trim().toLowerCase())
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"));
    }

    private static KStream<String, String> clicks(StreamsBuilder builder) {
        return builder.stream("clicks");
    }

    private static void countByValueUnnamed(StreamsBuilder builder, String topic) {
        builder.<String, String>stream(topic).groupBy((key, value) -> value).count().toStream().to(topic + "-by-value");
    }

    private static void countUnnamed(StreamsBuilder builder, String topic) {
        countTo(builder.stream(topic), topic + "-counted");
    }

    private static void countTo(KStream<String, String> stream, String topic) {
        stream.groupByKey().count().toStream().to(topic);
    }
}
