package domains;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;

/** A record's fields one after another, behind the version of their layout. */
public final class BinarySerde<T extends Record> implements Serde<T>, Serializer<T>, Deserializer<T> {
    private final Class<T> type;
    private final int version;

    public BinarySerde(Class<T> type) {
        this(type, 1);
    }

    public BinarySerde(Class<T> type, int version) {
        this.type = type;
        this.version = version;
    }

    @Override
    public Serializer<T> serializer() {
        return this;
    }

    @Override
    public Deserializer<T> deserializer() {
        return this;
    }

    @Override
    public void close() {}

    @Override
    public void configure(java.util.Map<String, ?> settings, boolean isKey) {}

    @Override
    public byte[] serialize(String topic, T data) {
        if (data == null) {
            return null;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(version);
            for (RecordComponent part : type.getRecordComponents()) {
                out.writeUTF(String.valueOf(part.getAccessor().invoke(data)));
            }
        } catch (IOException | ReflectiveOperationException failure) {
            throw new SerializationException(failure);
        }
        return bytes.toByteArray();
    }

    @Override
    public T deserialize(String topic, byte[] data) {
        if (data == null) {
            return null;
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(data))) {
            if (in.readByte() != version) {
                throw new SerializationException("not version " + version + " of " + type.getSimpleName());
            }
            int fields = type.getRecordComponents().length;
            String[] values = new String[fields];
            for (int i = 0; i < fields; i++) {
                values[i] = in.readUTF();
            }
            return Fields.of(type, values);
        } catch (IOException failure) {
            throw new SerializationException(failure);
        }
    }
}
