package topologies.pairs;

import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;
import topologies.Pair;
import topologies.Reading;

/** How keys and values are written as bytes. None of it stands in a description. */
public final class Formats {

    /** The latest readings are stored in another format than before. */
    public Pair storedValueFormatChanged() {
        return Pair.of(
                builder -> latest(builder, Serdes.String(), Reading.text()),
                builder -> latest(builder, Serdes.String(), Reading.binary()));
    }

    /** The numbers of the meters, which are the keys, are stored as eight bytes instead of digits. */
    public Pair storedKeyFormatChanged() {
        return Pair.of(
                builder -> latest(builder, Serdes.String(), Reading.text()),
                builder -> latest(builder, Serdes.Long(), Reading.text()));
    }

    /** The output is written in another format; nothing is stored. */
    public Pair outputFormatChanged() {
        return Pair.of(
                builder -> copy(builder, Reading.text()),
                builder -> copy(builder, Reading.binary()));
    }

    /** The value gets a field, in a format that says which version it is. */
    public Pair fieldAddedToVersionedFormat() {
        return Pair.of(
                builder -> latest(builder, Serdes.String(), Reading.versioned(1)),
                builder -> latest(builder, Serdes.String(), Reading.versioned(2)));
    }

    /** The format that says nothing of its version is replaced by one that does. */
    public Pair versionAddedToFormat() {
        return Pair.of(
                builder -> latest(builder, Serdes.String(), Reading.text()),
                builder -> latest(builder, Serdes.String(), Reading.versioned(1)));
    }

    /** The format is given at the store now, as it was by default until now. */
    public Pair defaultFormatWrittenOut() {
        return Pair.of(
                builder -> builder.<String, String>stream("readings", Consumed.as("readings-source"))
                        .groupByKey(Grouped.as("by-meter"))
                        .reduce((last, next) -> next, Named.as("latest"), Materialized.as("latest-store")),
                builder -> builder.stream(
                                "readings", Consumed.with(Serdes.String(), Serdes.String()).withName("readings-source"))
                        .groupByKey(Grouped.with("by-meter", Serdes.String(), Serdes.String()))
                        .reduce(
                                (last, next) -> next,
                                Named.as("latest"),
                                Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("latest-store")
                                        .withKeySerde(Serdes.String())
                                        .withValueSerde(Serdes.String())));
    }

    private static <K> void latest(StreamsBuilder builder, Serde<K> keys, Serde<Reading> readings) {
        builder.stream("readings", Consumed.with(keys, readings).withName("readings-source"))
                .groupByKey(Grouped.with("by-meter", keys, readings))
                .reduce(
                        (last, next) -> next,
                        Named.as("latest"),
                        Materialized.<K, Reading, KeyValueStore<Bytes, byte[]>>as("latest-store")
                                .withKeySerde(keys)
                                .withValueSerde(readings));
    }

    private static void copy(StreamsBuilder builder, Serde<Reading> out) {
        builder.stream("readings", Consumed.with(Serdes.String(), Reading.text()).withName("readings-source"))
                .to("readings-copy", Produced.with(Serdes.String(), out).withName("readings-sink"));
    }
}
