package kstreams.runbooks.copier;

import static java.util.Comparator.comparing;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Whether the next records have been copied before: offsets that are restored from a backup have the copier's own mark.
 *
 * <p>The mark has where the last copy is, in each partition of the target. The next records of the source are looked for
 * behind it, among the records that readers of the target see.
 */
final class CopiedBefore {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration SAY_EVERY = Duration.ofSeconds(10);
    /** Brokers look for transactions that have timed out every ten seconds. */
    private static final Duration LOOKED_FOR = Duration.ofSeconds(25);
    private static final Duration LOOK_AGAIN = Duration.ofMillis(200);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** The marker of the last copy's transaction is behind it. */
    private static final int MARKER = 1;
    private static final int SHOWN = 3;

    private final Settings settings;
    private final Cluster cluster;
    private final StartChecks start;
    private final Map<String, String> targets = new HashMap<>();
    /** Of the targets: the ends, and as far as committed records can be read. */
    private final Map<TopicPartition, Long> ends;
    private Map<TopicPartition, Long> readable;
    private IsolationLevel isolation = IsolationLevel.READ_COMMITTED;

    CopiedBefore(Settings settings, Cluster cluster, StartChecks start) throws Refused {
        this.settings = settings;
        this.cluster = cluster;
        this.start = start;
        Set<TopicPartition> partitions = new HashSet<>();
        for (Route route : settings.routes) {
            targets.put(route.from, route.to);
            for (int number = 0; number < start.topics.get(route.to).partitions; number++) {
                partitions.add(new TopicPartition(route.to, number));
            }
        }
        ends = cluster.ends(partitions);
        readable = cluster.stableEnds(partitions);
    }

    /** Of each target, by partition: a first copy comes behind. */
    Map<String, long[]> ends() {
        Map<String, long[]> byPartition = new HashMap<>();
        ends.forEach((partition, end) -> byPartition.computeIfAbsent(partition.topic(),
            topic -> new long[start.topics.get(topic).partitions])[partition.partition()] = end);
        return byPartition;
    }

    /** Refused if they were, or if a target has lost copies. */
    void requireNot() throws Refused {
        List<String> refusals = lost();
        if (refusals.isEmpty()) {
            refusals = refusals();
        }
        if (!refusals.isEmpty()) {
            throw Refused.of(refusals);
        }
    }

    private List<String> refusals() throws Refused {
        List<String> refusals = new ArrayList<>();
        Map<TopicPartition, Map<Long, List<ConsumerRecord<byte[], byte[]>>>> next = nextCopies();
        Map<TopicPartition, Copied> before =
            new TreeMap<>(comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
        if (!next.isEmpty()) {
            read(begins(next), readable, isolation, copy -> {
                List<ConsumerRecord<byte[], byte[]>> records = next.get(place(copy)).getOrDefault(copy.timestamp(), List.of());
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (copy.offset() > reached(place(record), copy.partition()) && isCopy(record, copy)) {
                        before.merge(place(record), new Copied(record, copy),
                            (one, other) -> other.record.offset() < one.record.offset() ? other : one);
                    }
                }
                return true;
            });
        }
        // Another instance may have copied them since the start, or a transaction of a killed one has ended.
        Map<TopicPartition, Long> now = before.isEmpty() ? Map.of() : cluster.stablyCommitted();
        before.keySet().removeIf(source -> now.getOrDefault(source, -1L) > start.offsets.committed.get(source));
        before.values().stream().collect(groupingBy(copied -> copied.record.topic(), TreeMap::new, toList()))
            .forEach((topic, copied) -> refusals.add(copiedBefore(topic, copied)));
        return refusals;
    }

    private String copiedBefore(String topic, Collection<Copied> copied) {
        String places = copied.stream().limit(SHOWN).map(Copied::toString).collect(joining("; "));
        return topic + ", " + copied.size() + " of " + start.topics.get(topic).partitions + " partitions (" + places
            + (copied.size() > SHOWN ? "; …" : "") + "): records after the committed offsets are in " + targets.get(topic)
            + " already, such as after a backup of the offsets was restored. Find the first one that it lacks"
            + " (docs/copier_on_call.md), and commit its offset (kstreams-runbooks copier seed COPIER --at " + topic
            + ":PARTITION:OFFSET --replace " + topic + " --may-repeat " + targets.get(topic) + " --execute).";
    }

    /** A partition that ends before its last copy: a broker that had not got it has become the leader. */
    private List<String> lost() {
        List<String> lost = new ArrayList<>();
        for (Route route : settings.routes) {
            Map<Integer, Long> last = new TreeMap<>();
            start.offsets.last.forEach((source, copied) -> {
                if (source.topic().equals(route.from) && copied.target.equals(start.topics.get(route.to).id)) {
                    copied.reached.forEach((number, offset) -> last.merge(number, offset, Math::max));
                }
            });
            last.entrySet().removeIf(
                reached -> reached.getValue() < ends.getOrDefault(new TopicPartition(route.to, reached.getKey()), 0L));
            if (!last.isEmpty()) {
                int number = last.keySet().iterator().next();
                lost.add(route.to + ", " + last.size() + " of " + start.topics.get(route.to).partitions + " partitions ("
                    + number + " last copy at " + last.get(number) + ", end "
                    + ends.get(new TopicPartition(route.to, number)) + "): it has lost copies, as after an unclean election."
                    + " Find the first record that it lacks (docs/copier_on_call.md), and commit its offset"
                    + " (kstreams-runbooks copier seed COPIER --at " + route.from + ":PARTITION:OFFSET --replace "
                    + route.from + " --may-repeat " + route.to + " --execute).");
            }
        }
        return lost;
    }

    /** The next records of each source partition that may have a copy, by their partition of the target and their time. */
    private Map<TopicPartition, Map<Long, List<ConsumerRecord<byte[], byte[]>>>> nextCopies() throws Refused {
        Map<TopicPartition, Long> begins = new HashMap<>();
        start.offsets.last.forEach((source, copied) -> {
            if (copied.reached.entrySet().stream().anyMatch(reached ->
                    ends.getOrDefault(target(source, reached.getKey()), 0L) > reached.getValue() + 1 + MARKER)) {
                begins.put(source, start.offsets.committed.get(source));
            }
        });
        Map<TopicPartition, Long> stable = cluster.stableEnds(begins.keySet());
        begins.keySet().removeIf(source -> begins.get(source) >= stable.get(source));
        settle(begins.keySet());
        Map<TopicPartition, Map<Long, List<ConsumerRecord<byte[], byte[]>>>> next = new HashMap<>();
        read(begins, stable, IsolationLevel.READ_COMMITTED, record -> {
            int partitions = start.topics.get(targets.get(record.topic())).partitions;
            int number = settings.mode.partition(record.key(), record.partition(), partitions);
            if (reached(place(record), number) < Long.MAX_VALUE) {
                next.computeIfAbsent(target(place(record), number), target -> new HashMap<>())
                    .computeIfAbsent(record.timestamp(), time -> new ArrayList<>()).add(record);
            }
            return false;
        });
        return next;
    }

    /** That of a killed copier ends by its timeout. Behind one that stays open, what may become readable counts. */
    private void settle(Set<TopicPartition> sources) throws Refused {
        Set<TopicPartition> open = new HashSet<>();
        sources.forEach(source ->
            start.offsets.last.get(source).reached.keySet().forEach(number -> open.add(target(source, number))));
        long until = System.nanoTime() + settings.transactionTimeout().plus(LOOKED_FOR).toNanos();
        while (true) {
            open.removeIf(target -> readable.get(target) >= ends.get(target));
            if (open.isEmpty()) {
                return;
            }
            if (System.nanoTime() > until) {
                isolation = IsolationLevel.READ_UNCOMMITTED;
                readable = ends;
                return;
            }
            LockSupport.parkNanos(LOOK_AGAIN.toNanos());
            readable = cluster.stableEnds(readable.keySet());
        }
    }

    /** Behind the last copies, and not before the first record with the time of one of these. */
    private Map<TopicPartition, Long> begins(Map<TopicPartition, Map<Long, List<ConsumerRecord<byte[], byte[]>>>> next)
            throws Refused {
        Map<TopicPartition, Long> firsts = cluster.firsts(next.keySet());
        Map<TopicPartition, Long> begins = new HashMap<>();
        for (Map.Entry<TopicPartition, Map<Long, List<ConsumerRecord<byte[], byte[]>>>> target : next.entrySet()) {
            Set<TopicPartition> sources = target.getValue().values().stream().flatMap(List::stream)
                .map(CopiedBefore::place).collect(toSet());
            long last = sources.stream().mapToLong(source -> reached(source, target.getKey().partition())).min()
                .orElseThrow();
            long oldestMs = target.getValue().keySet().stream().min(Long::compare).orElseThrow();
            long since = cluster.since(Set.of(target.getKey()), oldestMs).get(target.getKey());
            if (since >= 0) {
                begins.put(target.getKey(), Math.max(Math.max(last + 1, since), firsts.get(target.getKey())));
            }
        }
        begins.entrySet().removeIf(begin -> begin.getValue() >= readable.get(begin.getKey()));
        return begins;
    }

    /** No offset is behind that of an unknown last copy. */
    private long reached(TopicPartition source, int number) {
        return start.offsets.last.get(source).reached.getOrDefault(number, Long.MAX_VALUE);
    }

    private TopicPartition target(TopicPartition source, int number) {
        return new TopicPartition(targets.get(source.topic()), number);
    }

    /** Each partition from its offset to its end, or until no further record of it is wanted. */
    private void read(Map<TopicPartition, Long> begins, Map<TopicPartition, Long> ends, IsolationLevel level,
            Predicate<ConsumerRecord<byte[], byte[]>> isFurtherWanted) throws Refused {
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings.reader(level), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Set<TopicPartition> left = new HashSet<>(begins.keySet());
            consumer.assign(left);
            begins.forEach(consumer::seek);
            long records = 0;
            long said = System.nanoTime();
            long advanced = said;
            while (!left.isEmpty()) {
                Set<TopicPartition> done = new HashSet<>();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    records++;
                    advanced = System.nanoTime();
                    if (!isFurtherWanted.test(record)) {
                        done.add(place(record));
                    }
                }
                for (TopicPartition partition : left) {
                    if (consumer.position(partition) >= ends.get(partition)) {
                        done.add(partition);
                    }
                }
                if (!done.isEmpty()) {
                    advanced = System.nanoTime();
                    consumer.pause(done);
                    left.removeAll(done);
                }
                long now = System.nanoTime();
                if (now - said > SAY_EVERY.toNanos()) {
                    said = now;
                    Events.say("looks whether the next records were copied before: " + records + " records read, "
                        + left.size() + " partitions left");
                }
                if (now - advanced > PATIENCE.toNanos()) {
                    throw new Refused("The brokers gave no record of " + left.iterator().next() + " for "
                        + PATIENCE.toSeconds() + " s, so it is not known whether the next records were copied before."
                        + " Start the copier again once they answer.");
                }
            }
        } catch (KafkaException error) {
            throw Failure.of(error);
        }
    }

    private static TopicPartition place(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    private static boolean isCopy(ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> copy) {
        return Arrays.equals(record.key(), copy.key()) && Arrays.equals(record.value(), copy.value())
            && record.headers().equals(copy.headers());
    }

    /** A record that is not copied by its offset, and its copy. */
    private static final class Copied {
        private final ConsumerRecord<byte[], byte[]> record;
        private final ConsumerRecord<byte[], byte[]> copy;

        private Copied(ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> copy) {
            this.record = record;
            this.copy = copy;
        }

        @Override
        public String toString() {
            return record.partition() + " offset " + record.offset() + " is at " + copy.partition() + ":" + copy.offset();
        }
    }
}
