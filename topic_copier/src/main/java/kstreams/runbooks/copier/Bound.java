package kstreams.runbooks.copier;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Keeps the consumers of the stream threads from every record at or after {@link Until}, and commits that offset where
 * Kafka Streams does not: it never commits a partition of which it has processed no record, and the rest of one may be
 * aborted, compacted away or empty.
 *
 * <p>Called at each poll, by the thread of the consumer: here records can be held back, for any reason to come.
 */
final class Bound {
    private static final Duration NOW = Duration.ofMillis(200);

    private final Map<TopicPartition, Long> ends;
    /** Of a partition that `until` does not name: it is newer than the start, or there is no `until`. */
    private final long otherwise;
    private final Supplier<Map<TopicPartition, Long>> committed;
    /** The highest offset that Kafka Streams was given, of each partition. */
    private final Map<TopicPartition, Long> given = new ConcurrentHashMap<>();

    /** @param committed what the group had committed when that was last read */
    Bound(Until until, Supplier<Map<TopicPartition, Long>> committed) {
        this.ends = until.ends();
        this.otherwise = until.isGiven() ? 0 : Long.MAX_VALUE;
        this.committed = committed;
    }

    /** The records of a poll that are before their end. */
    ConsumerRecords<byte[], byte[]> keep(Consumer<byte[], byte[]> consumer, ConsumerRecords<byte[], byte[]> polled) {
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> kept = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>(polled.nextOffsets());
        for (TopicPartition partition : polled.partitions()) {
            long end = end(partition);
            List<ConsumerRecord<byte[], byte[]>> records = before(end, polled.records(partition));
            if (records.isEmpty()) {
                next.remove(partition);
            } else {
                kept.put(partition, records);
                given.merge(partition, records.get(records.size() - 1).offset(), Math::max);
            }
        }
        Map<TopicPartition, OffsetAndMetadata> commits = new HashMap<>();
        for (TopicPartition partition : consumer.assignment()) {
            long end = end(partition);
            if (hasReached(consumer, partition, end)) {
                next.computeIfPresent(partition,
                    (one, offset) -> new OffsetAndMetadata(Math.min(offset.offset(), end)));
                if (isLeftToUs(partition, end)) {
                    commits.put(partition, new OffsetAndMetadata(end));
                }
            }
        }
        commit(consumer, commits);
        return new ConsumerRecords<>(kept, next);
    }

    /** Of the partitions that Kafka Streams resumes, those that go on. */
    Collection<TopicPartition> resumed(Consumer<byte[], byte[]> consumer, Collection<TopicPartition> partitions) {
        Set<TopicPartition> resumed = new HashSet<>(partitions);
        resumed.removeIf(partition -> consumer.assignment().contains(partition)
            && hasReached(consumer, partition, end(partition)));
        return resumed;
    }

    private static List<ConsumerRecord<byte[], byte[]>> before(long end, List<ConsumerRecord<byte[], byte[]>> records) {
        List<ConsumerRecord<byte[], byte[]>> before = new ArrayList<>(records.size());
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (record.offset() < end) {
                before.add(record);
            }
        }
        return before;
    }

    private long end(TopicPartition partition) {
        return ends.getOrDefault(partition, otherwise);
    }

    /** Whether a partition is read to its end; it stays there. */
    private static boolean hasReached(Consumer<byte[], byte[]> consumer, TopicPartition partition, long end) {
        long position;
        try {
            position = consumer.position(partition, NOW);
        } catch (RetriableException error) {
            return false;
        }
        if (position > end) {
            consumer.seek(partition, end);
        }
        if (position >= end) {
            consumer.pause(Set.of(partition));
        }
        return position >= end;
    }

    /** Everything that Kafka Streams was given of it is committed, and its end is not. */
    private boolean isLeftToUs(TopicPartition partition, long end) {
        Long offset = committed.get().get(partition);
        return offset != null && offset < end && given.getOrDefault(partition, -1L) < offset;
    }

    /** An offset that another client has committed gets no mark of the copier: the look before the end refuses it. */
    private static OffsetAndMetadata moved(OffsetAndMetadata before, long end) {
        OffsetAndMetadata moved = new OffsetAndMetadata(end, before.metadata());
        return LastCopied.of(before).isPresent() ? LastCopied.marked(moved, new long[0]) : moved;
    }

    private static void commit(Consumer<byte[], byte[]> consumer, Map<TopicPartition, OffsetAndMetadata> commits) {
        if (commits.isEmpty()) {
            return;
        }
        try {
            // What Kafka Streams and the copier keep next to an offset stays.
            consumer.committed(commits.keySet()).forEach((partition, before) -> commits.computeIfPresent(partition,
                (same, end) -> before == null ? end : moved(before, end.offset())));
            consumer.commitSync(commits);
        } catch (CommitFailedException | RebalanceInProgressException error) {
            // The next poll finds whose partition it is, and its owner commits.
        }
    }
}
