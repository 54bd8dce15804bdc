package kstreams.runbooks.copier;

import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Of each source partition: what the group has committed (absent if nothing), the log's first offset and its end. */
final class OffsetFacts {
    final Map<TopicPartition, Long> committed;
    final Map<TopicPartition, Long> first;
    final Map<TopicPartition, Long> end;

    OffsetFacts(Map<TopicPartition, Long> committed, Map<TopicPartition, Long> first, Map<TopicPartition, Long> end) {
        this.committed = committed;
        this.first = first;
        this.end = end;
    }
}
