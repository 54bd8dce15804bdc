package domains;

import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.StringJoiner;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;

/** A record's fields as text, with semicolons between them. */
public final class CsvSerde<T extends Record> implements Serde<T> {
    private final Class<T> type;

    public CsvSerde(Class<T> type) {
        this.type = type;
    }

    @Override
    public Serializer<T> serializer() {
        return new Writer<>(type);
    }

    @Override
    public Deserializer<T> deserializer() {
        return new Reader<>(type);
    }

    private record Writer<T extends Record>(Class<T> type) implements Serializer<T> {
        @Override
        public byte[] serialize(String topic, T data) {
            if (data == null) {
                return null;
            }
            StringJoiner line = new StringJoiner(";");
            try {
                for (RecordComponent part : type.getRecordComponents()) {
                    line.add(String.valueOf(part.getAccessor().invoke(data)));
                }
            } catch (ReflectiveOperationException failure) {
                throw new SerializationException(failure);
            }
            return line.toString().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public void configure(Map<String, ?> settings, boolean isKey) {}

        @Override
        public void close() {}
    }

    private record Reader<T extends Record>(Class<T> type) implements Deserializer<T> {
        @Override
        public T deserialize(String topic, byte[] data) {
            return data == null
                    ? null
                    : Fields.of(type, new String(data, StandardCharsets.UTF_8).split(";", -1));
        }

        @Override
        public void configure(Map<String, ?> settings, boolean isKey) {}

        @Override
        public void close() {}
    }
}
