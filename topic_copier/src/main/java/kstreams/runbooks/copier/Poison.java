package kstreams.runbooks.copier;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/** The first record that cannot be copied: with it the copier ends. Kafka Streams makes the classes that find it. */
final class Poison {
    private static final AtomicReference<String> FIRST = new AtomicReference<>();

    private Poison() {
    }

    /** Whether an answer of the broker is about this record: of others in its batch it says nothing. */
    static boolean isPoison(Exception error) {
        return error instanceof RecordTooLargeException || error instanceof RecordBatchTooLargeException
            || error instanceof InvalidTimestampException || error instanceof InvalidRecordException;
    }

    /** A record whose copy the target does not take. */
    static void notTaken(RecordMetadata source, ProducerRecord<byte[], byte[]> copy, Exception error) {
        sentence(source.topic(), source.partition(), source.offset(), copy.key(), copy.value(), "topic " + copy.topic()
            + " does not take it, " + error.getClass().getSimpleName() + ": " + oneLine(error.getMessage()) + " "
            + remedy(copy.topic(), error));
    }

    private static String remedy(String topic, Exception error) {
        if (error instanceof RecordTooLargeException || error instanceof RecordBatchTooLargeException) {
            return "Raise max.message.bytes of " + topic + " (and producer.max.request.size above 64 MB), then start.";
        }
        if (error instanceof InvalidTimestampException) {
            return "Raise message.timestamp.before.max.ms and message.timestamp.after.max.ms of " + topic
                + ", then start.";
        }
        return "A compacted topic takes no record without a key: remove compact from its cleanup.policy, then start.";
    }

    static String oneLine(String text) {
        String line = text == null ? "no message" : text.replaceAll("\\s+", " ").trim();
        return line.endsWith(".") ? line : line + ".";
    }

    /** @param bytes of the value; keys and values themselves are never shown */
    static String sentence(String topic, int partition, long offset, byte[] key, byte[] value, String reason) {
        String sentence = String.format("%s partition %d offset %d (key %s, value %s) cannot be copied: %s"
            + " Nothing is skipped: the copier ends here at each start until then.",
            topic, partition, offset, size(key), size(value), reason);
        FIRST.compareAndSet(null, sentence);
        return FIRST.get();
    }

    /** The sentence about it, null if there was none. */
    static String first() {
        return FIRST.get();
    }

    private static String size(byte[] bytes) {
        return bytes == null ? "null" : String.format("%,d bytes", bytes.length);
    }
}
