package topologies.pairs;

import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
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
