package shop;

import java.nio.ByteBuffer;
import org.apache.kafka.common.serialization.Serializer;

final class TotalWriter implements Serializer<Total> {
    @Override
    public byte[] serialize(String topic, Total total) {
        return total == null ? null : ByteBuffer.allocate(8).putLong(total.sum).array();
    }
}
