package topologies;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;

/** What a meter says, in the formats that it has had. */
public record Reading(long value) {

    public static Serde<Reading> text() {
        return serde(
                reading -> Long.toString(reading.value).getBytes(UTF_8),
                bytes -> Long.parseLong(new String(bytes, UTF_8)));
    }

    public static Serde<Reading> binary() {
        return serde(
                reading -> ByteBuffer.allocate(8).putLong(reading.value).array(),
                bytes -> ByteBuffer.wrap(bytes).getLong());
    }

    /** The version comes first; all later ones can be read. */
    public static Serde<Reading> versioned(int version) {
        return serde(
                reading -> ByteBuffer.allocate(9).put((byte) version).putLong(reading.value).array(),
                bytes -> ByteBuffer.wrap(bytes, 1, 8).getLong());
    }

    private interface Writer {
        byte[] bytes(Reading reading);
    }

    private interface Reader {
        long value(byte[] bytes);
    }

    private static Serde<Reading> serde(Writer writer, Reader reader) {
        Serializer<Reading> serializer = (topic, reading) -> reading == null ? null : writer.bytes(reading);
        Deserializer<Reading> deserializer = (topic, bytes) -> bytes == null ? null : new Reading(reader.value(bytes));
        return Serdes.serdeFrom(serializer, deserializer);
    }
}
