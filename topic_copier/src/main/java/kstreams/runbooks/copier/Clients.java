package kstreams.runbooks.copier;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Consumers of a copier with `until` or in order of time: of a classic group, and of a streams group, which has no
 * supplier of them (and no order of time).
 */
final class Clients extends CopyClients {
    /** Kafka Streams makes the consumer of a streams group itself, and wraps it in a class that this setting names. */
    static final String WRAPPER = "__internal.consumer.wrapper__";
    private static Bound shared;

    private final TaskChecks checks;
    private final Bound bound;
    private final ByTime byTime;

    /** @param byTime null: as they are read */
    Clients(TaskChecks checks, Bound bound, ByTime byTime) {
        super(checks);
        this.checks = checks;
        this.bound = bound;
        this.byTime = byTime;
        shared = bound;
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> settings) {
        return byTime == null ? new Bounded(settings, checks, bound)
            : new Merging(settings, checks, bound, byTime);
    }

    private static class Bounded extends Checked {
        private final Bound bound;
        /** What is paused and resumed now is not what Kafka Streams pauses and resumes. */
        boolean own;

        private Bounded(Map<String, Object> settings, TaskChecks checks, Bound bound) {
            super(settings, checks);
            this.bound = bound;
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration limit) {
            // Inside of it the rebalance listener of Kafka Streams pauses partitions.
            ConsumerRecords<byte[], byte[]> polled = super.poll(limit);
            return onOurOwn(() -> bound.keep(this, polled));
        }

        @Override
        public void resume(Collection<TopicPartition> partitions) {
            super.resume(onOurOwn(() -> bound.resumed(this, partitions)));
        }

        <T> T onOurOwn(Supplier<T> held) {
            boolean before = own;
            own = true;
            try {
                return held.get();
            } finally {
                own = before;
            }
        }
    }

    private static final class Merging extends Bounded {
        private final ByTime byTime;

        private Merging(Map<String, Object> settings, TaskChecks checks, Bound bound, ByTime byTime) {
            super(settings, checks, bound);
            this.byTime = byTime;
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration limit) {
            ConsumerRecords<byte[], byte[]> polled = super.poll(byTime.patience(limit));
            return onOurOwn(() -> byTime.due(this, polled));
        }

        @Override
        public void pause(Collection<TopicPartition> partitions) {
            if (!own) {
                byTime.paused(partitions);
            }
            super.pause(partitions);
        }

        @Override
        public void resume(Collection<TopicPartition> partitions) {
            super.resume(own ? partitions : byTime.resumed(partitions));
        }

        @Override
        public void seek(TopicPartition partition, OffsetAndMetadata offset) {
            byTime.forget(Set.of(partition));
            super.seek(partition, offset);
        }

        @Override
        public void subscribe(Collection<String> topics, ConsumerRebalanceListener listener) {
            super.subscribe(topics, new Forgetting(listener, byTime));
        }

        @Override
        public void subscribe(Pattern pattern, ConsumerRebalanceListener listener) {
            super.subscribe(pattern, new Forgetting(listener, byTime));
        }
    }

    private static final class Forgetting implements ConsumerRebalanceListener {
        private final ConsumerRebalanceListener streams;
        private final ByTime byTime;

        private Forgetting(ConsumerRebalanceListener streams, ByTime byTime) {
            this.streams = streams;
            this.byTime = byTime;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            streams.onPartitionsAssigned(partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            byTime.revoked(partitions);
            streams.onPartitionsRevoked(partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            byTime.revoked(partitions);
            streams.onPartitionsLost(partitions);
        }
    }

    /** Made by Kafka Streams. */
    public static final class Wrapped extends Checking {
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
