package topologies.pairs;

import static java.time.Duration.ofHours;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import topologies.Pair;

/** Stores that are filled from one topic, and topics that meet in one store: no topic shows which store is which. */
public final class OneTopic {

    /** Two counts of one stream exchange the names of their stores, and their source has another name. */
    public Pair storeNamesOfOneStreamExchangedAndSourceRenamed() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks", "clicks-source");
                    count(clicks, "by-user", "user-store");
                    count(clicks, "by-visit", "visit-store");
                },
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks", "all-clicks");
                    count(clicks, "by-user", "visit-store");
                    count(clicks, "by-visit", "user-store");
                });
    }

    /** The source of two counts has another name, and each count keeps its store. */
    public Pair sourceOfTwoCountsRenamed() {
        return Pair.of(
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks", "clicks-source");
                    count(clicks, "by-user", "user-store");
                    count(clicks, "by-visit", "visit-store");
                },
                builder -> {
                    KStream<String, String> clicks = stream(builder, "clicks", "all-clicks");
                    count(clicks, "by-user", "user-store");
                    count(clicks, "by-visit", "visit-store");
                });
    }

    /** Both sides of a join come from one stream; they change places, and the stream gets a filter. */
    public Pair sidesOfOneStreamSwappedAndFilterAdded() {
        return Pair.of(
                builder -> sides(stream(builder, "clicks", "clicks-source"), false),
                builder -> sides(filtered(stream(builder, "clicks", "clicks-source")), true));
    }

    /** The stream that both sides of a join come from gets a filter; the sides stay. */
    public Pair filterAddedBeforeSidesOfOneStream() {
        return Pair.of(
                builder -> sides(stream(builder, "clicks", "clicks-source"), false),
                builder -> sides(filtered(stream(builder, "clicks", "clicks-source")), false));
    }

    /** Both sides of a join come from one stream with a new key, each through a topic; they change places. */
    public Pair sidesOfOneKeyedStreamSwapped() {
        return Pair.of(builder -> keyedSides(builder, false), builder -> keyedSides(builder, true));
    }

    /** A count is put behind a merge of a join and a stream of another number of partitions. */
    public Pair countAddedBehindMergeWithJoin() {
        return Pair.of(
                builder -> merged(builder).to("all", Produced.as("all-sink")),
                builder -> {
                    KStream<String, String> all = merged(builder);
                    all.to("all", Produced.as("all-sink"));
                    count(all, "by-user", "user-store");
                });
    }

    private static KStream<String, String> stream(StreamsBuilder builder, String topic, String name) {
        return builder.stream(topic, Consumed.as(name));
    }

    private static KStream<String, String> filtered(KStream<String, String> stream) {
        return stream.filter((user, click) -> !click.isEmpty(), Named.as("not-empty"));
    }

    private static void sides(KStream<String, String> clicks, boolean swapped) {
        KStream<String, String> pages = clicks.mapValues(click -> click.split(",")[0]);
        KStream<String, String> buttons = clicks.mapValues(click -> click.split(",")[1]);
        (swapped ? join(buttons, pages) : join(pages, buttons)).to("pairs", Produced.as("pairs-sink"));
    }

    private static void keyedSides(StreamsBuilder builder, boolean swapped) {
        KStream<String, String> pages =
                stream(builder, "clicks", "clicks-source").selectKey((user, click) -> click.split(",")[0]);
        KStream<String, String> seen = pages.peek((page, click) -> { });
        (swapped ? join(pages, seen) : join(seen, pages)).to("pairs", Produced.as("pairs-sink"));
    }

    private static KStream<String, String> merged(StreamsBuilder builder) {
        KStream<String, String> joined =
                join(stream(builder, "clicks", "clicks-source"), stream(builder, "views", "views-source"));
        return joined.merge(stream(builder, "visits", "visits-source"), Named.as("with-visits"));
    }

    private static KStream<String, String> join(KStream<String, String> one, KStream<String, String> other) {
        return one.join(other, (left, right) -> left + right, JoinWindows.ofTimeDifferenceWithNoGrace(ofHours(1)),
                StreamJoined.<String, String, String>as("pair-store").withName("pair"));
    }

    private static void count(KStream<String, String> stream, String name, String store) {
        stream.groupByKey(Grouped.as("grouped-" + name))
                .count(Named.as("count-" + name), Materialized.as(store))
                .toStream(Named.as("changes-" + name))
                .to("counts-" + name, Produced.as("sink-" + name));
    }
}
