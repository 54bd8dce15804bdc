package kstreams.runbooks.copier;

import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.ProcessorMetadata;
import org.apache.kafka.streams.processor.internals.TopicPartitionMetadata;

/**
 * What a commit of the copier keeps next to the offset: into which topic the records before it were copied.
 *
 * <p>In the metadata in which Kafka Streams keeps its own time of a partition. An offset that was seeded has none: it
 * says where to begin, and nothing about a target.
 */
final class LastCopied {
    private static final String ID_HIGH = "target-id-high";
    private static final String ID_LOW = "target-id-low";
    private static final String PARTITIONS = "target-partitions";

    /** The highest time of a copied record. */
    final long atMs;
    final Uuid target;
    /** The target's, when the last record was copied. */
    final long partitions;

    private LastCopied(long atMs, Uuid target, long partitions) {
        this.atMs = atMs;
        this.target = target;
        this.partitions = partitions;
    }

    static Optional<LastCopied> of(OffsetAndMetadata offset) {
        TopicPartitionMetadata kept = TopicPartitionMetadata.decode(offset.metadata());
        ProcessorMetadata marks = kept.processorMetadata();
        Long high = marks.get(ID_HIGH);
        Long low = marks.get(ID_LOW);
        Long partitions = marks.get(PARTITIONS);
        return high == null || low == null || partitions == null ? Optional.empty()
            : Optional.of(new LastCopied(kept.partitionTime(), new Uuid(high, low), partitions));
    }

    /** Every commit of the task has it from now on. */
    static void mark(ProcessorContext<?, ?> context, TopicFacts target) {
        InternalProcessorContext<?, ?> task = (InternalProcessorContext<?, ?>) context;
        task.addProcessorMetadataKeyValue(ID_HIGH, target.id.getMostSignificantBits());
        task.addProcessorMetadataKeyValue(ID_LOW, target.id.getLeastSignificantBits());
        task.addProcessorMetadataKeyValue(PARTITIONS, target.partitions);
    }
}
