package kstreams.runbooks.copier;

import java.util.Arrays;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;

/** What a record and its copy have in common: key, value, headers and time. */
final class Content {
    private final byte[] key;
    private final byte[] value;
    private final Headers headers;
    final long atMs;

    Content(ConsumerRecord<byte[], byte[]> record) {
        key = record.key();
        value = record.value();
        headers = record.headers();
        atMs = record.timestamp();
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Content)) {
            return false;
        }
        Content that = (Content) other;
        return atMs == that.atMs && Arrays.equals(key, that.key) && Arrays.equals(value, that.value)
            && headers.equals(that.headers);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(atMs) * 961 + Arrays.hashCode(key) * 31 + Arrays.hashCode(value);
    }
}
