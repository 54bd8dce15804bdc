package kstreams.runbooks.copier;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.internals.ConsumerWrapper;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * Consumers that look at the offset at which a task begins (TaskChecks), and producers that know which record each copy
 * is of: they name one that is not taken, and take a copy with another time than its record's for one that was not
 * written. Each offset that they commit has the copier's mark.
 *
 * <p>A target may get message.timestamp.type=LogAppendTime while the copier runs. The broker's answer has its time: the
 * transaction is aborted, and no reader of committed records sees the copy.
 */
class CopyClients extends DefaultKafkaClientSupplier {
    private static TaskChecks shared;

    private final TaskChecks checks;

    CopyClients(TaskChecks checks) {
        this.checks = checks;
        shared = checks;
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> settings) {
        return new Checked(settings, checks);
    }

    @Override
    public Producer<byte[], byte[]> getProducer(Map<String, Object> settings) {
        return new Copying(settings);
    }

    /** Of a classic group. */
    static class Checked extends KafkaConsumer<byte[], byte[]> {
        private final TaskChecks checks;

        Checked(Map<String, Object> settings, TaskChecks checks) {
            super(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            this.checks = checks;
        }

        @Override
        public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
            return checks.begins(groupMetadata().generationId(), super.committed(partitions));
        }
    }

    /** Of a streams group: made by Kafka Streams. */
    public static class Checking extends ConsumerWrapper {
        @Override
        public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
            return shared.begins(groupMetadata().generationId(), super.committed(partitions));
        }
    }

    private static final class Copying extends KafkaProducer<byte[], byte[]> {
        /** Of the transaction that is open. */
        private final Map<TopicPartition, Long> offsets = new HashMap<>();

        private Copying(Map<String, Object> settings) {
            super(settings, new ByteArraySerializer(), new ByteArraySerializer());
        }

        @Override
        public void beginTransaction() {
            offsets.clear();
            super.beginTransaction();
        }

        @Override
        public void commitTransaction() {
            super.commitTransaction();
            shared.committed(offsets);
        }

        @Override
        public void sendOffsetsToTransaction(Map<TopicPartition, OffsetAndMetadata> processed,
                ConsumerGroupMetadata group) {
            Map<TopicPartition, OffsetAndMetadata> marked = new HashMap<>();
            // Kafka Streams has flushed this producer: the callbacks of all copies before these offsets have run.
            processed.forEach((partition, offset) -> {
                marked.put(partition, LastCopied.marked(offset, CopyTopology.copies(partition)));
                offsets.put(partition, offset.offset());
            });
            super.sendOffsetsToTransaction(marked, group);
        }

        @Override
        public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> copy, Callback sent) {
            org.apache.kafka.streams.processor.api.RecordMetadata source = CopyTopology.source();
            long[] reached = CopyTopology.reached();
            return super.send(copy, (place, error) -> {
                Exception why = error;
                if (error == null) {
                    reached[place.partition()] = Math.max(reached[place.partition()], place.offset());
                }
                if (error == null && place.timestamp() != copy.timestamp()) {
                    why = new KafkaException(copy.topic() + " gave a copy the time " + place.timestamp()
                        + ", and its record has " + copy.timestamp());
                } else if (Poison.isPoison(error)) {
                    Poison.notTaken(source, copy, error);
                }
                sent.onCompletion(place, why);
            });
        }
    }
}
