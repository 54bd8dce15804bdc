package shop;

import java.nio.ByteBuffer;
import org.apache.kafka.common.serialization.Deserializer;

final class TotalReader implements Deserializer<Total> {
    @Override
    public Total deserialize(String topic, byte[] bytes) {
        return bytes == null ? null : new Total(ByteBuffer.wrap(bytes).getLong());
    }
}
