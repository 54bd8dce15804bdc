package kstreams.runbooks.copier;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
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

    private CopyTopology() {
    }

    /**
     * The topology of all routes.
     *
     * @param topics at the start, none to describe it; a record for another count of partitions ends the copier
     * @param copied counts the records
     */
    static Topology of(Settings settings, Map<String, TopicFacts> topics, LongAdder copied)
            throws Refused {
        EXPECTED.putAll(topics);
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
        private boolean marked;

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
            SOURCE.set(place);
            if (!marked) {
                LastCopied.mark(context, EXPECTED.get(TARGETS.get(place.topic())), mode);
                marked = true;
            }
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
