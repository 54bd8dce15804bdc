import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;

/** A topology some of whose classes use what left its package in Kafka 4.4. */
public class Unlinked {
    /** In the sink. */
    static class Writes extends Base implements Serializer<String> {
        @Override
        public byte[] serialize(String topic, String data) {
            return data.getBytes();
        }
    }

    /** The class above one of the topology. */
    static class Base {
        String version() {
            return AppInfoParser.getVersion();
        }
    }

    /** In the source, behind a handler. */
    static class Reads implements Deserializer<String> {
        @Override
        public String deserialize(String topic, byte[] data) {
            try {
                return AppInfoParser.getVersion();
            } catch (LinkageError older) {
                return "";
            }
        }
    }

    /** Made by a supplier, which is a lambda of this class. */
    static class Processes implements Processor<String, String, String, String> {
        @Override
        public void process(Record<String, String> record) {
            new LogContext("").logger(Processes.class).info(record.value());
        }
    }

    /** Named by a setting. */
    public static class Extracts implements TimestampExtractor {
        @Override
        public long extract(ConsumerRecord<Object, Object> record, long previous) {
            return new LogContext("").hashCode();
        }
    }

    /** Of no topology. */
    static class Never implements Serializer<String> {
        @Override
        public byte[] serialize(String topic, String data) {
            return AppInfoParser.getCommitId().getBytes();
        }
    }

    /** Links. */
    static class Sound implements Processor<String, String, String, String> {
        @Override
        public void process(Record<String, String> record) {}
    }

    /** The topology. */
    public static Topology topology() {
        return new Topology()
                .addSource("in", new StringDeserializer(), new Reads(), "in")
                .addProcessor("sound", Sound::new, "in")
                .addProcessor("made", Processes::new, "sound")
                .addStateStore(Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore("s"), Serdes.String(),
                        Serdes.String()), "made")
                .addSink("out", "out", new StringSerializer(), new Writes(), "made");
    }
}
