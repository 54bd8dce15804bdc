package kstreams.runbooks.copier;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.internals.ConsumerWrapper;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/** Consumers of a copier with `until`: of a classic group, and of a streams group, which has no supplier of them. */
final class Clients extends DefaultKafkaClientSupplier {
    /** Kafka Streams makes the consumer of a streams group itself, and wraps it in a class that this setting names. */
    static final String WRAPPER = "__internal.consumer.wrapper__";
    private static Bound shared;

    private final Bound bound;

    Clients(Bound bound) {
        this.bound = bound;
        shared = bound;
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> settings) {
        return new Classic(settings, bound);
    }

    private static final class Classic extends KafkaConsumer<byte[], byte[]> {
        private final Bound bound;

        private Classic(Map<String, Object> settings, Bound bound) {
            super(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            this.bound = bound;
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration limit) {
            return bound.keep(this, super.poll(limit));
        }

        @Override
        public void resume(Collection<TopicPartition> partitions) {
            super.resume(bound.resumed(this, partitions));
        }
    }

    /** Made by Kafka Streams. */
    public static final class Wrapped extends ConsumerWrapper {
        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration limit) {
            return shared.keep(delegate, super.poll(limit));
        }

        @Override
        public void resume(Collection<TopicPartition> partitions) {
            super.resume(shared.resumed(delegate, partitions));
        }
    }
}
