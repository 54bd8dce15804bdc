package kstreams.runbooks.copier;

import java.util.concurrent.atomic.AtomicReference;

/** The first record that cannot be copied: with it the copier ends. Kafka Streams makes the classes that find it. */
final class Poison {
    private static final AtomicReference<String> FIRST = new AtomicReference<>();

    private Poison() {
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
