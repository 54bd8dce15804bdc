package orders;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.processor.TimestampExtractor;

/**
 * TEST ONLY ({@code fail.at.start=true}): a release whose stream threads die at their first record. It never processes
 * anything and ends in ERROR with its JVM alive, and nothing that the other instances share is touched.
 */
final class FailAtStart implements TimestampExtractor {
    @Override
    public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
        throw new IllegalStateException("fail.at.start=true: " + record.topic() + " is not processed");
    }
}
