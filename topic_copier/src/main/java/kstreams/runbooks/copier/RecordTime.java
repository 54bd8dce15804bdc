package kstreams.runbooks.copier;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.processor.TimestampExtractor;

/** The record's own time, also if it goes back. */
final class RecordTime implements TimestampExtractor {
    @Override
    public long extract(ConsumerRecord<Object, Object> record, long before) {
        if (record.timestamp() < 0) {
            // Kafka Streams would drop it with a warning, and a Java producer cannot write it.
            throw new StreamsException(Poison.sentence(record.topic(), record.partition(), record.offset(),
                (byte[]) record.key(), (byte[]) record.value(),
                "its timestamp is " + record.timestamp() + ", and Java producers write none below 0. To leave it out,"
                    + " run the copier with until at this offset, then commit the offset after it."));
        }
        return record.timestamp();
    }
}
