package kstreams.runbooks.copier;

import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.ProcessorMetadata;
import org.apache.kafka.streams.processor.internals.TopicPartitionMetadata;

/**
 * What a commit keeps next to the offset: the target that the records before it are in, or that a person has chosen.
 *
 * <p>In the metadata in which Kafka Streams keeps its own time of a partition. The copier writes it with each commit,
 * and `copier seed` and the runbooks (model/readings/copied_into.py) with the offset at which a copy begins. Nobody else
 * does: an offset without it says nothing about the target. The offset itself is a part of it, because another Kafka
 * Streams program of this group would commit its own offset next to the metadata that it has found.
 */
final class LastCopied {
    private static final String OFFSET = "copied-to-offset";
    private static final String ID_HIGH = "target-id-high";
    private static final String ID_LOW = "target-id-low";
    private static final String PARTITIONS = "target-partitions";
    private static final String MODE = "mode";

    /** The highest time of a copied record; negative if none was copied yet. */
    final long atMs;
    final Uuid target;
    /** The target's, when the last record was copied. */
    final long partitions;
    /** In which the last record was copied; empty if none was copied yet. */
    final Optional<Mode> mode;

    private LastCopied(long atMs, Uuid target, long partitions, Optional<Mode> mode) {
        this.atMs = atMs;
        this.target = target;
        this.partitions = partitions;
        this.mode = mode;
    }

    /** Empty if neither the copier nor a person has committed this offset. */
    static Optional<LastCopied> of(OffsetAndMetadata offset) {
        TopicPartitionMetadata kept = TopicPartitionMetadata.decode(offset.metadata());
        ProcessorMetadata marks = kept.processorMetadata();
        Long committed = marks.get(OFFSET);
        Long high = marks.get(ID_HIGH);
        Long low = marks.get(ID_LOW);
        Long partitions = marks.get(PARTITIONS);
        return committed == null || committed != offset.offset() || high == null || low == null || partitions == null
            ? Optional.empty()
            : Optional.of(new LastCopied(kept.partitionTime(), new Uuid(high, low), partitions,
                Optional.ofNullable(marks.get(MODE)).map(number -> Mode.values()[number.intValue()])));
    }

    /** The offset with its mark: what the copier commits. */
    static OffsetAndMetadata marked(OffsetAndMetadata offset) {
        TopicPartitionMetadata kept = TopicPartitionMetadata.decode(offset.metadata());
        kept.processorMetadata().put(OFFSET, offset.offset());
        return new OffsetAndMetadata(offset.offset(), offset.leaderEpoch(),
            new TopicPartitionMetadata(kept.partitionTime(), kept.processorMetadata()).encode());
    }

    /** Every commit of the task has it from now on. */
    static void mark(ProcessorContext<?, ?> context, TopicFacts target, Mode mode) {
        InternalProcessorContext<?, ?> task = (InternalProcessorContext<?, ?>) context;
        task.addProcessorMetadataKeyValue(ID_HIGH, target.id.getMostSignificantBits());
        task.addProcessorMetadataKeyValue(ID_LOW, target.id.getLeastSignificantBits());
        task.addProcessorMetadataKeyValue(PARTITIONS, target.partitions);
        task.addProcessorMetadataKeyValue(MODE, mode.ordinal());
    }
}
