package shop;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;

final class JsonSerde<T> implements Serde<T> {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    private final Class<T> type;
    private boolean pretty;

    JsonSerde(Class<T> type) {
        this.type = type;
        configure(Collections.singletonMap("pretty", "no"), false);
    }

    @Override
    public void configure(Map<String, ?> settings, boolean isKey) {
        pretty = "yes".equals(settings.get("pretty"));
    }

    @Override
    public Serializer<T> serializer() {
        return new Serializer<T>() {
            @Override
            public byte[] serialize(String topic, T value) {
                try {
                    return pretty
                            ? MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(value)
                            : MAPPER.writerFor(type).writeValueAsBytes(value);
                } catch (IOException refused) {
                    throw new IllegalStateException(refused);
                }
            }
        };
    }

    @Override
    public Deserializer<T> deserializer() {
        return (topic, bytes) -> {
            try {
                return bytes == null ? null : MAPPER.readValue(bytes, type);
            } catch (IOException refused) {
                throw new IllegalStateException(refused);
            }
        };
    }
}
