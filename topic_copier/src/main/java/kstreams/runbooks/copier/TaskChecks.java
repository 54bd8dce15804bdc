package kstreams.runbooks.copier;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.StreamsException;

/**
 * What is looked at when a task begins, before its first record: another client may have committed its offset since the
 * start, and a member may copy otherwise.
 *
 * <p>Kafka Streams asks its consumer for the committed offset of each task that it has been assigned, and goes on there:
 * that answer is judged. Members are asked for once in each generation of the group: a new one has a new member, or none.
 */
final class TaskChecks {
    private final Settings settings;
    private final Cluster cluster;
    private final StartChecks start;
    private volatile int alike = -1;
    /** The highest offsets of the start, and of this process. */
    private final Map<TopicPartition, Long> reached = new ConcurrentHashMap<>();

    TaskChecks(Settings settings, Cluster cluster, StartChecks start) {
        this.settings = settings;
        this.cluster = cluster;
        this.start = start;
        reached.putAll(start.offsets.committed);
    }

    /** What this process has committed. */
    void committed(Map<TopicPartition, Long> offsets) {
        offsets.forEach((partition, offset) -> reached.merge(partition, offset, Math::max));
    }

    /** What the group has committed for tasks that begin in this generation; what it throws ends the copier. */
    Map<TopicPartition, OffsetAndMetadata> begins(int generation, Map<TopicPartition, OffsetAndMetadata> committed) {
        try {
            if (generation != alike) {
                cluster.requireAlike();
                alike = generation;
            }
            Map<TopicPartition, OffsetAndMetadata> there = new HashMap<>(committed);
            there.values().removeIf(Objects::isNull);
            List<String> refusals = OffsetRules.ofTargets(settings, start.topics,
                new OffsetFacts(there, start.offsets.first, start.offsets.end));
            if (!refusals.isEmpty()) {
                throw Refused.of(refusals);
            }
            for (Map.Entry<TopicPartition, OffsetAndMetadata> offset : there.entrySet()) {
                long before = reached.getOrDefault(offset.getKey(), 0L);
                if (offset.getValue().offset() < before) {
                    throw new Refused(offset.getKey() + " is committed at " + offset.getValue().offset() + ", and was at "
                        + before + " before: its offset was set back. Start the copier again: it looks whether these"
                        + " records are copied already.");
                }
            }
        } catch (Refused error) {
            throw new StreamsException(error.getMessage());
        }
        return committed;
    }
}
