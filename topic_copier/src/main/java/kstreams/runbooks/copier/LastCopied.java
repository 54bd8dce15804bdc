package kstreams.runbooks.copier;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.ProcessorMetadata;
import org.apache.kafka.streams.processor.internals.TopicPartitionMetadata;

/**
 * What a commit keeps next to the offset: its topic, and the target that the records before it are in, or that a person
 * has chosen.
 *
 * <p>In the metadata in which Kafka Streams keeps its own time of a partition. The copier writes it with each commit,
 * and `copier seed` and the runbooks (model/readings/copied_into.py) with the offset at which a copy begins. Nobody else
 * does: an offset without it says nothing about the target. The offset itself is a part of it, because another Kafka
 * Streams program of this group would commit its own offset next to the metadata that it has found.
 */
final class LastCopied {
    private static final String OFFSET = "copied-to-offset";
    private static final String SOURCE_HIGH = "source-id-high";
    private static final String SOURCE_LOW = "source-id-low";
    private static final String ID_HIGH = "target-id-high";
    private static final String ID_LOW = "target-id-low";
    private static final String PARTITIONS = "target-partitions";
    private static final String MODE = "mode";
    /** With the number of a partition of the target behind it. */
    private static final String REACHED = "to-";
    /** More do not fit next to an offset (offset.metadata.max.bytes, 4 KiB): copied_into.py has the same limit. */
    static final int MOST_REACHED = 128;

    /** The highest time of a copied record; negative if none was copied yet. */
    final long atMs;
    final Uuid source;
    final Uuid target;
    /** The target's, when the last record was copied. */
    final long partitions;
    /** In which the last record was copied; empty if none was copied yet. */
    final Optional<Mode> mode;
    /** By partition of the target: the offset of the last copy there, or its last one before the copy began. */
    final Map<Integer, Long> reached;

    private LastCopied(long atMs, Uuid source, Uuid target, long partitions, Optional<Mode> mode, Map<Integer, Long> reached) {
        this.atMs = atMs;
        this.source = source;
        this.target = target;
        this.partitions = partitions;
        this.mode = mode;
        this.reached = reached;
    }

    /** Empty if neither the copier nor a person has committed this offset. */
    static Optional<LastCopied> of(OffsetAndMetadata offset) {
        TopicPartitionMetadata kept = TopicPartitionMetadata.decode(offset.metadata());
        ProcessorMetadata marks = kept.processorMetadata();
        Long committed = marks.get(OFFSET);
        Optional<Uuid> source = id(marks, SOURCE_HIGH, SOURCE_LOW);
        Optional<Uuid> target = id(marks, ID_HIGH, ID_LOW);
        Long partitions = marks.get(PARTITIONS);
        return committed == null || committed != offset.offset() || source.isEmpty() || target.isEmpty()
                || partitions == null
            ? Optional.empty()
            : Optional.of(new LastCopied(kept.partitionTime(), source.get(), target.get(), partitions,
                Optional.ofNullable(marks.get(MODE)).map(number -> Mode.values()[number.intValue()]),
                reached(marks, partitions.intValue())));
    }

    private static Optional<Uuid> id(ProcessorMetadata marks, String high, String low) {
        Long first = marks.get(high);
        Long second = marks.get(low);
        return first == null || second == null ? Optional.empty() : Optional.of(new Uuid(first, second));
    }

    private static Map<Integer, Long> reached(ProcessorMetadata marks, int partitions) {
        Map<Integer, Long> reached = new TreeMap<>();
        for (int number = 0; number < partitions; number++) {
            Long offset = marks.get(REACHED + number);
            if (offset != null) {
                reached.put(number, offset);
            }
        }
        return reached;
    }

    /**
     * The offset with its mark: what the copier commits.
     *
     * @param copies the offsets of the copies of this process, by partition of the target; negative without one
     */
    static OffsetAndMetadata marked(OffsetAndMetadata offset, long[] copies) {
        TopicPartitionMetadata kept = TopicPartitionMetadata.decode(offset.metadata());
        ProcessorMetadata marks = kept.processorMetadata();
        marks.put(OFFSET, offset.offset());
        for (int number = 0; number < copies.length; number++) {
            Long before = marks.get(REACHED + number);
            // A partition that has come back from another instance has its copies in the mark alone.
            if (before != null && before < copies[number]) {
                marks.put(REACHED + number, copies[number]);
            }
        }
        return new OffsetAndMetadata(offset.offset(), offset.leaderEpoch(),
            new TopicPartitionMetadata(kept.partitionTime(), kept.processorMetadata()).encode());
    }

    /**
     * Every commit of the task has it from now on.
     *
     * @param place the number of the task's partition
     * @param ends of the target at the start
     */
    static void mark(ProcessorContext<?, ?> context, TopicFacts source, TopicFacts target, Mode mode, int place,
            long[] ends) {
        InternalProcessorContext<?, ?> task = (InternalProcessorContext<?, ?>) context;
        Map<String, Long> marks = new HashMap<>();
        marks.put(SOURCE_HIGH, source.id.getMostSignificantBits());
        marks.put(SOURCE_LOW, source.id.getLeastSignificantBits());
        marks.put(ID_HIGH, target.id.getMostSignificantBits());
        marks.put(ID_LOW, target.id.getLeastSignificantBits());
        marks.put(PARTITIONS, (long) target.partitions);
        marks.put(MODE, (long) mode.ordinal());
        boolean isOne = mode == Mode.SAME_PARTITION;
        for (int number = isOne ? place : 0; number < (isOne ? place + 1 : target.partitions); number++) {
            Long before = task.processorMetadataForKey(REACHED + number);
            if (isOne || target.partitions <= MOST_REACHED) {
                marks.put(REACHED + number, before == null ? ends[number] - 1 : before);
            }
        }
        task.setProcessorMetadata(new ProcessorMetadata(marks));
    }
}
