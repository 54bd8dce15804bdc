package orders;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** Records as compact JSON in UTF-8, their version first. */
final class JsonSerde {
    private static final JsonMapper MAPPER =
            JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

    private JsonSerde() {}

    /** Refuses bytes that are no JSON of that form, or of a version that this release does not know. */
    static <T extends Versioned> Serde<T> of(Class<T> type) {
        ObjectWriter writer = MAPPER.writerFor(type);
        ObjectReader reader = MAPPER.readerFor(type);
        return Serdes.serdeFrom(
                (topic, value) -> value == null ? null : write(writer, topic, value),
                (topic, bytes) -> bytes == null ? null : read(reader, topic, bytes));
    }

    private static byte[] write(ObjectWriter writer, String topic, Object value) {
        try {
            return writer.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new SerializationException("a value for " + topic + " cannot be written as JSON", e);
        }
    }

    private static <T extends Versioned> T read(ObjectReader reader, String topic, byte[] bytes) {
        T value;
        try {
            value = reader.readValue(bytes);
        } catch (IOException e) {
            throw new SerializationException("a value of " + topic + " is not the JSON expected there", e);
        }
        if (value == null || value.v() != Versioned.CURRENT) {
            throw new SerializationException("a value of " + topic + " has version "
                    + (value == null ? "none" : value.v()) + ", known is " + Versioned.CURRENT);
        }
        return value;
    }
}
