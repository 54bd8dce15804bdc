package kstreams.runbooks.copier;

import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads ranges of partitions before the copy begins; long ones say how far they are. */
final class RecordReader {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration SAY_EVERY = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Settings settings;

    RecordReader(Settings settings) {
        this.settings = settings;
    }

    /** Each partition from its offset to its end, or to the end of a poll after a record behind which none is wanted. */
    void read(Map<TopicPartition, Long> begins, Map<TopicPartition, Long> ends, IsolationLevel isolation,
            Predicate<ConsumerRecord<byte[], byte[]>> isFurtherWanted) throws Refused {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings.reader(isolation),
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Set<TopicPartition> left = new HashSet<>(begins.keySet());
            left.removeIf(partition -> begins.get(partition) >= ends.get(partition));
            consumer.assign(left);
            left.forEach(partition -> consumer.seek(partition, begins.get(partition)));
            long records = 0;
            long said = System.nanoTime();
            long advanced = said;
            while (!left.isEmpty()) {
                Set<TopicPartition> done = new HashSet<>();
                ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
                records += polled.count();
                for (ConsumerRecord<byte[], byte[]> record : polled) {
                    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                    if (record.offset() >= ends.get(partition) || !isFurtherWanted.test(record)) {
                        done.add(partition);
                    }
                }
                for (TopicPartition partition : left) {
                    if (consumer.position(partition) >= ends.get(partition)) {
                        done.add(partition);
                    }
                }
                consumer.pause(done);
                left.removeAll(done);
                long now = System.nanoTime();
                if (!polled.isEmpty() || !done.isEmpty()) {
                    advanced = now;
                }
                if (now - said > SAY_EVERY.toNanos()) {
                    said = now;
                    Events.say("looks whether the next records were copied before: " + records + " records read, "
                        + left.size() + " partitions left");
                }
                if (now - advanced > PATIENCE.toNanos()) {
                    throw new Refused("The brokers gave no record of " + left.iterator().next() + " for "
                        + PATIENCE.toSeconds() + " s, so it is not known whether the next records were copied before."
                        + " Start the copier again once they answer.");
                }
            }
        } catch (KafkaException error) {
            throw Failure.of(error);
        }
    }
}
