package kstreams.runbooks.copier;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Each route as a source, a processor and a sink: key, value, headers and time of a record go on as they are.
 *
 * <p>Its parts are classes with a name, and no state but the mode: topology facts of two releases can be compared.
 */
final class CopyTopology {
    /** Each topic at the start; empty while the topology is only described. */
    private static final Map<String, TopicFacts> EXPECTED = new ConcurrentHashMap<>();
    /** The target of each source: a field of the parts would make them differ from route to route. */
    private static final Map<String, String> TARGETS = new ConcurrentHashMap<>();
    /** How long the target of a source keeps records, in milliseconds, until an older one was named. */
    private static final Map<String, Long> KEPT_MS = new ConcurrentHashMap<>();
    /** Which record a thread copies: its producer is called within the processor, and answers much later. */
    private static final ThreadLocal<RecordMetadata> SOURCE = new ThreadLocal<>();
    /** The ends of each target at the start, by partition. */
    private static final Map<String, long[]> ENDS = new ConcurrentHashMap<>();
    /** Of each source partition: the highest offset of its copies in this process, by partition of the target. */
    private static final Map<TopicPartition, long[]> COPIES = new ConcurrentHashMap<>();
    /** Those of the record that a thread copies. */
    private static final ThreadLocal<long[]> REACHED = new ThreadLocal<>();
    private static final long[] NONE = {};

    private CopyTopology() {
    }

    /**
     * The topology of all routes.
     *
     * @param topics at the start, none to describe it; a record for another count of partitions ends the copier
     * @param ends of the targets at the start, by partition
     * @param copied counts the records
     */
    static Topology of(Settings settings, Map<String, TopicFacts> topics, Map<String, long[]> ends, LongAdder copied)
            throws Refused {
        EXPECTED.putAll(topics);
        ENDS.putAll(ends);
        Topology topology = new Topology();
        for (Route route : settings.routes) {
            TARGETS.put(route.from, route.to);
            TopicFacts target = topics.get(route.to);
            if (target != null && target.deletes() && target.limit("retention.ms") != Long.MAX_VALUE) {
                KEPT_MS.put(route.from, target.limit("retention.ms"));
            }
            String source = "from-" + route.from;
            String copy = "copy-" + route.from;
            topology.addSource(AutoOffsetReset.none(), source, new RecordTime(), new ByteArrayDeserializer(),
                new ByteArrayDeserializer(), route.from);
            topology.addProcessor(copy, new Carrying(copied, settings.mode), source);
            topology.addSink("to-" + route.to, route.to, new ByteArraySerializer(), new CarriedSerializer(),
                new RoutePartitioner(settings.mode), copy);
        }
        return topology;
    }

    /** Of the copy that this thread sends now. */
    static RecordMetadata source() {
        return SOURCE.get();
    }

    /** Where copies of the record that this thread sends now are noted, by partition of the target. */
    static long[] reached() {
        return REACHED.get();
    }

    /** The highest offset of a copy of this partition in this process, by partition of the target; -1 without one. */
    static long[] copies(TopicPartition source) {
        return COPIES.getOrDefault(source, NONE);
    }

    private static final class RoutePartitioner implements StreamPartitioner<byte[], Carried> {
        private final Mode mode;

        private RoutePartitioner(Mode mode) {
            this.mode = mode;
        }

        @Override
        public Optional<Set<Integer>> partitions(String target, byte[] key, Carried carried, int partitions) {
            int expected = EXPECTED.get(target).partitions;
            if (partitions != expected) {
                throw new StreamsException(
                    target + " had " + expected + " partitions at the start, and has " + partitions);
            }
            return Optional.of(Set.of(mode.partition(key, carried.partition, partitions)));
        }
    }

    private static final class CarriedSerializer implements Serializer<Carried> {
        @Override
        public byte[] serialize(String topic, Carried carried) {
            return carried.value;
        }
    }

    /** A value with the partition that it came from: all tasks share one partitioner, which sees no more than this. */
    private static final class Carried {
        private final byte[] value;
        private final int partition;

        private Carried(byte[] value, int partition) {
            this.value = value;
            this.partition = partition;
        }
    }

    private static final class Carrying implements ProcessorSupplier<byte[], byte[], byte[], Carried> {
        private final LongAdder copied;
        private final Mode mode;

        private Carrying(LongAdder copied, Mode mode) {
            this.copied = copied;
            this.mode = mode;
        }

        @Override
        public Processor<byte[], byte[], byte[], Carried> get() {
            return new Carry(copied, mode);
        }
    }

    private static final class Carry implements Processor<byte[], byte[], byte[], Carried> {
        private final LongAdder copied;
        private final Mode mode;
        private ProcessorContext<byte[], Carried> context;
        private long[] copies;

        private Carry(LongAdder copied, Mode mode) {
            this.copied = copied;
            this.mode = mode;
        }

        @Override
        public void init(ProcessorContext<byte[], Carried> context) {
            this.context = context;
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            RecordMetadata place = context.recordMetadata().orElseThrow();
            if (copies == null) {
                TopicFacts target = EXPECTED.get(TARGETS.get(place.topic()));
                LastCopied.mark(context, EXPECTED.get(place.topic()), target, mode, place.partition(),
                    ENDS.get(target.name));
                copies = COPIES.computeIfAbsent(new TopicPartition(place.topic(), place.partition()),
                    source -> LongStream.generate(() -> -1).limit(target.partitions).toArray());
            }
            SOURCE.set(place);
            REACHED.set(copies);
            Long keptMs = KEPT_MS.get(place.topic());
            if (keptMs != null && record.timestamp() < context.currentSystemTimeMs() - keptMs
                    && KEPT_MS.remove(place.topic(), keptMs)) {
                old(place, record.timestamp());
            }
            context.forward(record.withValue(new Carried(record.value(), place.partition())));
            copied.increment();
        }

        /** Brokers delete a segment once its newest record is old: this one may have younger ones in the source alone. */
        private static void old(RecordMetadata place, long atMs) {
            String target = TARGETS.get(place.topic());
            Events.say("WARNING: " + place.topic() + ", partition " + place.partition() + ", offset " + place.offset()
                + ", is of " + Instant.ofEpochMilli(atMs) + ", longer ago than retention.ms of " + target + ": brokers may"
                + " delete its copy at once, while " + place.topic() + " still has it. Set retention.ms=-1 on " + target
                + " until its readers have read such records. If it lacks copies already, create it again with that, and copy"
                + " all again.");
        }
    }
}
