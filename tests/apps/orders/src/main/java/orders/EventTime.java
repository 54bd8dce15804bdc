package orders;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.processor.TimestampExtractor;

/** Takes the time from the record's value: Kafka's own timestamp is when it was produced. */
final class EventTime implements TimestampExtractor {
    @Override
    public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
        // A deletion has no value to take it from.
        return record.value() instanceof Timed timed ? timed.ts() : record.timestamp();
    }
}
