package kstreams.runbooks.copier;

import static java.util.stream.Collectors.toMap;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Of each source partition: what the group has committed (absent if nothing), the log's first offset and its end. */
final class OffsetFacts {
    final Map<TopicPartition, Long> committed;
    /** Of the partitions whose offset the copier has committed, or a person has chosen. */
    final Map<TopicPartition, LastCopied> last = new HashMap<>();
    final Map<TopicPartition, Long> first;
    final Map<TopicPartition, Long> end;

    OffsetFacts(Map<TopicPartition, OffsetAndMetadata> committed, Map<TopicPartition, Long> first,
            Map<TopicPartition, Long> end) {
        this.committed = committed.entrySet().stream().collect(toMap(Map.Entry::getKey, one -> one.getValue().offset()));
        committed.forEach((partition, offset) -> LastCopied.of(offset).ifPresent(copied -> last.put(partition, copied)));
        this.first = first;
        this.end = end;
    }
}
