package topologies.pairs;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.CogroupedKStream;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;

/** Several streams that are aggregated into one table, and streams that become tables. */
public final class Cogrouped {

    /** A second stream is aggregated into the table of the first. */
    public Pair streamAddedToCogroup() {
        return Pair.of(
                builder -> out(letters(builder)),
                builder -> out(letters(builder).cogroup(grouped(builder, "parcels"), (id, item, all) -> all + item)));
    }

    /** Two streams are aggregated into one table in the other order: each keeps its own aggregator. */
    public Pair cogroupInputsSwapped() {
        return Pair.of(builder -> out(both(builder, "letters", "parcels")), builder -> out(both(builder, "parcels", "letters")));
    }

    /** The second of two streams is no longer aggregated into their table. */
    public Pair cogroupLosesItsSecondInput() {
        return Pair.of(builder -> out(both(builder, "letters", "parcels")), builder -> out(letters(builder)));
    }

    /** The first of two streams is no longer aggregated into their table: the second takes its place. */
    public Pair cogroupLosesItsFirstInput() {
        return Pair.of(builder -> out(both(builder, "parcels", "letters")), builder -> out(letters(builder)));
    }

    /** Two tables of two streams each exchange one of them. */
    public Pair cogroupsExchangeAnInput() {
        return Pair.of(builder -> {
            out(both(builder, "letters", "parcels"));
            sent(both(builder, "bills", "flyers"));
        }, builder -> {
            out(both(builder, "letters", "flyers"));
            sent(both(builder, "bills", "parcels"));
        });
    }

    /** A filter is put in front of two streams that are aggregated without a name. */
    public Pair filterBeforeUnnamedCogroup() {
        return Pair.of(builder -> unnamed(builder.stream("letters"), builder.stream("parcels")), builder -> {
            KStream<String, String> letters = builder.stream("letters");
            unnamed(letters.filter((id, item) -> !item.isEmpty()), builder.stream("parcels"));
        });
    }

    /** The stream becomes a table before it is written out. */
    public Pair streamMadeTable() {
        return Pair.of(
                builder -> builder.<String, String>stream("letters", Consumed.as("letters-source"))
                        .to("latest-letters", Produced.as("latest-sink")),
                builder -> builder.<String, String>stream("letters", Consumed.as("letters-source"))
                        .toTable(Named.as("latest"), Materialized.as("latest-store"))
                        .toStream(Named.as("latest-changes"))
                        .to("latest-letters", Produced.as("latest-sink")));
    }

    /** A filter is put in front of a table without a name that is made from a stream. */
    public Pair filterBeforeUnnamedToTable() {
        return Pair.of(
                builder -> builder.<String, String>stream("letters")
                        .selectKey((id, item) -> item)
                        .toTable()
                        .toStream()
                        .to("latest-letters"),
                builder -> builder.<String, String>stream("letters")
                        .filter((id, item) -> !item.isEmpty())
                        .selectKey((id, item) -> item)
                        .toTable()
                        .toStream()
                        .to("latest-letters"));
    }

    private static CogroupedKStream<String, String> letters(StreamsBuilder builder) {
        return grouped(builder, "letters").cogroup((id, item, all) -> all + item);
    }

    private static CogroupedKStream<String, String> both(StreamsBuilder builder, String first, String second) {
        return grouped(builder, first)
                .<String>cogroup((id, item, all) -> all + item)
                .cogroup(grouped(builder, second), (id, item, all) -> all + item);
    }

    private static KGroupedStream<String, String> grouped(StreamsBuilder builder, String topic) {
        return builder.<String, String>stream(topic, Consumed.as(topic + "-source")).groupByKey(Grouped.as(topic));
    }

    private static void out(CogroupedKStream<String, String> items) {
        items.aggregate(() -> "", Named.as("all-items"), Materialized.as("items-store"))
                .toStream(Named.as("item-changes"))
                .to("all-items", Produced.as("all-items-sink"));
    }

    private static void sent(CogroupedKStream<String, String> items) {
        items.aggregate(() -> "", Named.as("all-sent"), Materialized.as("sent-store"))
                .toStream(Named.as("sent-changes"))
                .to("all-sent", Produced.as("all-sent-sink"));
    }

    private static void unnamed(KStream<String, String> letters, KStream<String, String> parcels) {
        letters.groupByKey()
                .<String>cogroup((id, item, all) -> all + item)
                .cogroup(parcels.groupByKey(), (id, item, all) -> all + item)
                .aggregate(() -> "")
                .toStream()
                .to("all-items");
    }
}
