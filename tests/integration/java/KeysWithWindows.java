import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.kstream.TimeWindowedSerializer;
import org.apache.kafka.streams.kstream.Windowed;

/** Writes texts, and the windows of texts: for programs that leave both to the default serde of their keys. */
public final class KeysWithWindows implements Serde<Object> {
    private final StringSerializer texts = new StringSerializer();
    private final TimeWindowedSerializer<String> windows = new TimeWindowedSerializer<>(texts);

    @Override
    @SuppressWarnings("unchecked") // its keys are texts
    public Serializer<Object> serializer() {
        return (topic, key) -> key instanceof Windowed<?> window
                ? windows.serialize(topic, (Windowed<String>) window)
                : texts.serialize(topic, (String) key);
    }

    @Override
    public Deserializer<Object> deserializer() {
        return (topic, bytes) -> bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }
}
