package orders;

import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** A plain count as the stores and their changelogs keep it. */
record Count(int v, long count) implements Versioned {

    /** For {@code count()}, which deals in {@code Long}; what is written is {@code {"v":1,"count":n}}. */
    static Serde<Long> serde() {
        Serde<Count> count = JsonSerde.of(Count.class);
        return Serdes.serdeFrom(
                (topic, value) ->
                        count.serializer().serialize(topic, value == null ? null : new Count(CURRENT, value)),
                (topic, bytes) -> {
                    Count read = count.deserializer().deserialize(topic, bytes);
                    return read == null ? null : read.count();
                });
    }
}
