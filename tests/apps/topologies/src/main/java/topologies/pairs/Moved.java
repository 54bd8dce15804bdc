package topologies.pairs;

import java.util.Arrays;
import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;

/** Names that stay where something else has taken their place, and things that keep neither name nor place. */
public final class Moved {

    /** Each of two counts gives its store's name to the next: the second reads what the first wrote. */
    public Pair storeNamesPassedOn() {
        return Pair.of(
                builder -> {
                    count(stream(builder, "clicks"), "clicks", "by-user", "first-store");
                    count(stream(builder, "purchases"), "purchases", "by-buyer", "second-store");
                },
                builder -> {
                    count(stream(builder, "clicks"), "clicks", "by-user", "second-store");
                    count(stream(builder, "purchases"), "purchases", "by-buyer", "third-store");
                });
    }

    /** The same where the groupings have no names: the repartition topics are called after the stores. */
    public Pair storeNamesPassedOnBehindUnnamedGroupBy() {
        return Pair.of(
                builder -> {
                    countByValueUnnamed(builder, "clicks", "first-store");
                    countByValueUnnamed(builder, "purchases", "second-store");
                },
                builder -> {
                    countByValueUnnamed(builder, "clicks", "second-store");
                    countByValueUnnamed(builder, "purchases", "third-store");
                });
    }

    /** Each of two groupings gives its name to the next: records on their way reach the other count. */
    public Pair groupingNamesPassedOn() {
        return Pair.of(
                builder -> {
                    countBySelectedKey(stream(builder, "clicks"), "clicks", "first", "clicks-store");
                    countBySelectedKey(stream(builder, "purchases"), "purchases", "second", "purchases-store");
                },
                builder -> {
                    countBySelectedKey(stream(builder, "clicks"), "clicks", "second", "clicks-store");
                    countBySelectedKey(stream(builder, "purchases"), "purchases", "third", "purchases-store");
                });
    }

    /** Two groupings exchange their names: both repartition topics stay, and each carries the other's records. */
    public Pair groupingNamesExchanged() {
        return Pair.of(
                builder -> {
                    countByValue(stream(builder, "clicks"), "clicks", "first", "clicks-store");
                    countByValue(stream(builder, "purchases"), "purchases", "second", "purchases-store");
                },
                builder -> {
                    countByValue(stream(builder, "clicks"), "clicks", "second", "clicks-store");
                    countByValue(stream(builder, "purchases"), "purchases", "first", "purchases-store");
                });
    }

    /** A named count is taken from one stream and put behind another that was there already. */
    public Pair countMovedToOtherStream() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks");
                    KStream<String, String> purchases = stream(builder, "purchases");
                    countByValue(clicks, "all", "by-value", "counts-store");
                    copy(purchases);
                },
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks");
                    KStream<String, String> purchases = stream(builder, "purchases");
                    countByValue(purchases, "all", "by-value", "counts-store");
                    copy(clicks);
                });
    }

    /** A count of one table is made of another, which was read already; its own table goes with all its names. */
    public Pair tableCountMovedToOtherTableAndOwnRemoved() {
        return Pair.of(
                builder -> {
                    countRows(table(builder, "users"));
                    changes(table(builder, "devices"));
                },
                builder -> {
                    KTable<String, String> devices = table(builder, "devices");
                    countRows(devices);
                    changes(devices);
                });
    }

    /** The table of a count reads another topic, which was not read before; the other table stays. */
    public Pair tableCountReadsNewTopic() {
        return Pair.of(
                builder -> {
                    countRows(table(builder, "users"));
                    changes(table(builder, "devices"));
                },
                builder -> {
                    countRows(table(builder, "users-2"));
                    changes(table(builder, "devices"));
                });
    }

    /** Rows are filtered before the table is grouped: what was counted without the filter is never taken out. */
    public Pair rowsFilteredBeforeTableCount() {
        return Pair.of(
                builder -> countRows(table(builder, "users")),
                builder -> countRows(table(builder, "users").filter(Moved::isLong, Named.as("long-ones"))));
    }

    /** The filter in front of the grouping gets a store: it has no old row of a key until the key is written again. */
    public Pair rowsFilteredInStoreBeforeTableCount() {
        return Pair.of(
                builder -> countRows(table(builder, "users").filter(Moved::isLong, Named.as("long-ones"))),
                builder -> countRows(table(builder, "users")
                        .filter(Moved::isLong, Named.as("long-ones"), Materialized.as("long-ones-store"))));
    }

    /** Rows are filtered beside the grouping of their table: the count has all of them as before. */
    public Pair rowsFilteredBesideTableCount() {
        return Pair.of(
                builder -> {
                    KTable<String, String> users = table(builder, "users");
                    countRows(users);
                    changes(users);
                },
                builder -> {
                    KTable<String, String> users = table(builder, "users");
                    countRows(users);
                    changes(users.filter(Moved::isLong, Named.as("long-ones")));
                });
    }

    private static boolean isLong(String key, String value) {
        return value.length() > 4;
    }

    /** A count of one stream is made of the stream that is joined with it. */
    public Pair countMovedToStreamJoinedWithIt() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks");
                    KStream<String, String> purchases = stream(builder, "purchases");
                    joined(clicks, counted(purchases));
                    copy(purchases);
                },
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks");
                    KStream<String, String> purchases = stream(builder, "purchases");
                    joined(clicks, counted(clicks));
                    copy(purchases);
                });
    }

    /** Another stream is joined with the count, which stays where it is. */
    public Pair otherStreamJoinedWithCount() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks");
                    KStream<String, String> purchases = stream(builder, "purchases");
                    joined(clicks, counted(purchases));
                    copy(purchases);
                },
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks");
                    KStream<String, String> purchases = stream(builder, "purchases");
                    joined(purchases, counted(purchases));
                    copy(clicks);
                });
    }

    /** An unnamed count gets a filter before it, and its stream another topic besides. */
    public Pair filterBeforeUnnamedCountAndSourceTopicAdded() {
        return Pair.of(
                builder -> builder.<String, String>stream("clicks").groupByKey().count().toStream().to("total-clicks"),
                builder -> builder.<String, String>stream(Arrays.asList("clicks", "app-clicks"))
                        .filter((user, page) -> !page.isEmpty())
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"));
    }

    /** The store of the count has another name, and the stream another topic besides. */
    public Pair storeRenamedAndSourceTopicAdded() {
        return Pair.of(
                builder -> count(stream(builder, "clicks"), "clicks", "by-user", "clicks-store"),
                builder -> count(stream(builder, "clicks", "app-clicks"), "clicks", "by-user", "page-clicks"));
    }

    /** The stream of an unnamed count gets another topic besides: nothing moves. */
    public Pair sourceTopicAddedBeforeUnnamedCount() {
        return Pair.of(
                builder -> builder.<String, String>stream("clicks").groupByKey().count().toStream().to("total-clicks"),
                builder -> builder.<String, String>stream(Arrays.asList("clicks", "app-clicks"))
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"));
    }

    /** The output goes to another topic, and the sink, which is called after it, has another name. */
    public Pair sinkTopicAndNameChanged() {
        return Pair.of(
                builder -> stream(builder, "clicks").to("copies", Produced.as("copies-sink")),
                builder -> stream(builder, "clicks").to("copies-2", Produced.as("copies-2-sink")));
    }

    /** Two counts of one stream that nothing tells apart both get a filter before them. */
    public Pair filterBeforeTwoIdenticalUnnamedCounts() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = builder.stream("clicks");
                    clicks.groupByKey().count();
                    clicks.groupByKey().count();
                },
                builder -> {
                    KStream<String, String> clicks =
                            builder.<String, String>stream("clicks").filter((user, page) -> !page.isEmpty());
                    clicks.groupByKey().count();
                    clicks.groupByKey().count();
                });
    }

    /** Everything of the count has another name: nobody can say whether it is the same one. */
    public Pair everythingOfCountRenamed() {
        return Pair.of(
                builder -> count(stream(builder, "clicks"), "clicks", "by-user", "clicks-store"),
                builder -> count(stream(builder, "clicks"), "visits", "by-visitor", "visits-store"));
    }

    /** What fails is written to a topic that the application reads again. */
    public Pair retryTopicAdded() {
        return Pair.of(
                builder -> count(stream(builder, "clicks"), "clicks", "by-user", "clicks-store"),
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks", "clicks-retry");
                    clicks.filter((user, page) -> page.isEmpty(), Named.as("failed"))
                            .to("clicks-retry", Produced.as("retry-sink"));
                    count(clicks, "clicks", "by-user", "clicks-store");
                });
    }

    /** What makes values comes from behind a sum to its front. */
    public Pair mapValuesMovedInFrontOfSum() {
        return Pair.of(
                builder -> marked(all(stream(builder, "clicks"))).to("all-clicks", Produced.as("all-sink")),
                builder -> all(marked(stream(builder, "clicks"))).to("all-clicks", Produced.as("all-sink")));
    }

    /** What makes values, without a name, comes from the front of a sum to its rear. */
    public Pair unnamedMapValuesMovedBehindSum() {
        return Pair.of(
                builder -> all(stream(builder, "clicks").mapValues(page -> page + "/"))
                        .to("all-clicks", Produced.as("all-sink")),
                builder -> all(stream(builder, "clicks"))
                        .mapValues(pages -> pages + "/")
                        .to("all-clicks", Produced.as("all-sink")));
    }

    /** What only looks at the records, without a name, comes from behind a sum to its front. */
    public Pair unnamedPeekMovedInFrontOfSum() {
        return Pair.of(
                builder -> all(stream(builder, "clicks"))
                        .peek((user, pages) -> {})
                        .to("all-clicks", Produced.as("all-sink")),
                builder -> all(stream(builder, "clicks").peek((user, page) -> {}))
                        .to("all-clicks", Produced.as("all-sink")));
    }

    private static KStream<String, String> all(KStream<String, String> clicks) {
        return clicks.groupByKey(Grouped.as("by-user"))
                .reduce((one, other) -> one + other, Named.as("all"), Materialized.as("all-store"))
                .toStream(Named.as("changes"));
    }

    private static KStream<String, String> marked(KStream<String, String> clicks) {
        return clicks.mapValues(page -> page + "/", Named.as("marked"));
    }

    /** What is made of the clicks is written to the topic of the clicks itself. */
    public Pair outputWrittenToOwnInput() {
        return Pair.of(
                builder -> builder.<String, String>stream("clicks")
                        .mapValues(page -> page + "/")
                        .to("clicks-marked", Produced.as("marked-sink")),
                builder -> builder.<String, String>stream("clicks")
                        .mapValues(page -> page + "/")
                        .to("clicks", Produced.as("marked-sink")));
    }

    /** Clicks that are kept are counted behind a topic that the program writes and reads again; the code stays. */
    public Pair countBehindOwnTopic() {
        return Pair.same(builder -> {
            stream(builder, "clicks").to("clicks-kept", Produced.as("kept-sink"));
            count(stream(builder, "clicks-kept"), "clicks", "by-user", "clicks-store");
        });
    }

    /** Clicks that are kept go through a topic of the program to an output without a store; the code stays. */
    public Pair ownTopicReadWithoutStore() {
        return Pair.same(builder -> {
            count(stream(builder, "clicks"), "clicks", "by-user", "clicks-store");
            stream(builder, "visits").to("visits-kept", Produced.as("kept-sink"));
            stream(builder, "visits-kept").to("visits-out", Produced.as("out-sink"));
        });
    }

    private static KStream<String, String> stream(StreamsBuilder builder, String... topics) {
        List<String> names = Arrays.asList(topics);
        return builder.stream(names, Consumed.as(names.get(0) + "-source"));
    }

    private static void count(KStream<String, String> stream, String name, String grouping, String store) {
        stream.groupByKey(Grouped.as(grouping))
                .count(Named.as(name + "-count"), Materialized.as(store))
                .toStream(Named.as(name + "-changes"))
                .to(name + "-per-key", Produced.as(name + "-sink"));
    }

    private static void countByValue(KStream<String, String> stream, String name, String grouping, String store) {
        stream.groupBy((key, value) -> value, Grouped.as(grouping))
                .count(Named.as(name + "-count"), Materialized.as(store))
                .toStream(Named.as(name + "-changes"))
                .to(name + "-per-value", Produced.as(name + "-sink"));
    }

    private static void countBySelectedKey(KStream<String, String> stream, String name, String grouping, String store) {
        count(stream.selectKey((key, value) -> value, Named.as(name + "-key")), name, grouping, store);
    }

    private static void countByValueUnnamed(StreamsBuilder builder, String topic, String store) {
        builder.<String, String>stream(topic)
                .groupBy((key, value) -> value)
                .count(Materialized.as(store))
                .toStream()
                .to(topic + "-per-value");
    }

    private static KTable<String, String> table(StreamsBuilder builder, String topic) {
        String name = topic.split("-")[0];
        return builder.table(topic, Consumed.as(topic + "-source"), Materialized.as(name + "-rows"));
    }

    private static void countRows(KTable<String, String> rows) {
        rows.groupBy((key, value) -> KeyValue.pair(value, value), Grouped.as("by-value"))
                .count(Materialized.as("counts-store"))
                .toStream(Named.as("count-changes"))
                .to("counts", Produced.as("counts-sink"));
    }

    private static void changes(KTable<String, String> rows) {
        rows.toStream(Named.as("row-changes")).to("changes", Produced.as("changes-sink"));
    }

    private static KTable<String, Long> counted(KStream<String, String> stream) {
        return stream.groupByKey(Grouped.as("by-user")).count(Materialized.as("counts-store"));
    }

    private static void joined(KStream<String, String> stream, KTable<String, Long> counts) {
        stream.join(counts, (value, count) -> value + count, Joined.as("with-count"))
                .to("joined", Produced.as("joined-sink"));
    }

    private static void copy(KStream<String, String> stream) {
        stream.to("copies", Produced.as("copies-sink"));
    }
}
