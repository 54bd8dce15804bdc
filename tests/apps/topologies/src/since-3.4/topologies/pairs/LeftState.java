package topologies.pairs;

import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;
import topologies.Pair;
import topologies.Reading;

/** Changes that find the task directories or the values of the version before. */
public final class LeftState {

    /** A global table is declared between two counts: it takes the number of the second. */
    public Pair globalTableAddedBetweenCounts() {
        return Pair.of(
                builder -> {
                    count(builder, "amounts");
                    count(builder, "refunds");
                },
                builder -> {
                    count(builder, "amounts");
                    builder.globalTable("rates", Consumed.<String, Long>as("rates-source"), Materialized.as("rates-table"));
                    count(builder, "refunds");
                });
    }

    /** The sum of a meter's readings is stored as eight bytes instead of digits. */
    public Pair storedSumFormatChanged() {
        return Pair.of(builder -> sum(builder, Reading.text()), builder -> sum(builder, Reading.binary()));
    }

    /** The sum of a meter's readings is stored in the next version of its format, which reads the one before. */
    public Pair storedSumVersionRaised() {
        return Pair.of(builder -> sum(builder, Reading.versioned(1)), builder -> sum(builder, Reading.versioned(2)));
    }

    /** Events with a text are no longer counted, but the rows of a table are, under the same names. */
    public Pair textCountBecomesRowCount() {
        return Pair.of(
                builder -> countOfKind(builder.<String, String>stream("notes", Consumed.as("notes-source"))
                        .groupBy((note, text) -> text, Grouped.with("by-text", Serdes.String(), Serdes.String()))
                        .count(Named.as("count"), Materialized.as("totals"))),
                builder -> countOfKind(builder.<String, String>table(
                                "rows", Consumed.as("rows-source"), Materialized.as("rows-table"))
                        .groupBy(
                                (row, text) -> KeyValue.pair(text, text),
                                Grouped.with("by-text", Serdes.String(), Serdes.String()))
                        .count(Named.as("count"), Materialized.as("totals"))));
    }

    private static void countOfKind(KTable<String, Long> totals) {
        totals.toStream(Named.as("changes"))
                .to("totals-out", Produced.with(Serdes.String(), Serdes.Long()).withName("totals-sink"));
    }

    private static void count(StreamsBuilder builder, String topic) {
        builder.<String, Long>stream(topic, Consumed.as(topic + "-source"))
                .groupByKey()
                .count(Named.as(topic + "-count"), Materialized.as(topic + "-counts"))
                .toStream(Named.as(topic + "-changes"))
                .to(topic + "-out", Produced.as(topic + "-sink"));
    }

    private static void sum(StreamsBuilder builder, Serde<Reading> stored) {
        builder.<String, Long>stream("readings", Consumed.as("readings-source"))
                .groupByKey()
                .aggregate(
                        () -> new Reading(0),
                        (meter, reading, sum) -> new Reading(sum.value() + reading),
                        Named.as("add"),
                        Materialized.<String, Reading, KeyValueStore<Bytes, byte[]>>as("sums")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(stored))
                .toStream(Named.as("changes"))
                .mapValues(Reading::value, Named.as("values"))
                .to("sums-out", Produced.with(Serdes.String(), Serdes.Long()).withName("sums-sink"));
    }
}
