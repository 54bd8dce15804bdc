package kstreams.runbooks.copier;

import static java.util.Comparator.comparing;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * Whether the next records have been copied before: offsets that are restored from a backup have the copier's own mark.
 *
 * <p>The mark has where the last copy is, in each partition of the target. The records behind it are compared with the
 * next ones of the source, from both ends: either may be deleted or compacted away by now.
 */
final class CopiedBefore {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(200);
    private static final Duration SAID_AFTER = Duration.ofSeconds(2);
    /** The marker of the last copy's transaction is behind it. */
    private static final int MARKER = 1;
    /** Of the last records of a partition of the target. */
    private static final int LAST = 100;
    /** By key, a partition of the target has records of all sources: so many next records of each are compared. */
    private static final int NEXT_BY_KEY = 100_000;
    /** A backup that is restored repeats more; so few may be equal records of several partitions. */
    private static final int FEW = 50;
    private static final int SHOWN = 3;

    private final Settings settings;
    private final Cluster cluster;
    private final StartChecks start;
    private final RecordReader reader;
    private final Map<String, String> targets = new HashMap<>();
    /** Of the targets: the ends, and as far as records are compared. */
    private final Map<TopicPartition, Long> ends;
    private Map<TopicPartition, Long> readable;
    private IsolationLevel isolation = IsolationLevel.READ_COMMITTED;

    CopiedBefore(Settings settings, Cluster cluster, StartChecks start) throws Refused {
        this.settings = settings;
        this.cluster = cluster;
        this.start = start;
        reader = new RecordReader(settings);
        settings.routes.forEach(route -> targets.put(route.from, route.to));
        List<TopicPartition> partitions = cluster.partitions(start.topics, route -> route.to);
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
            refusals = repeated();
        }
        if (!refusals.isEmpty()) {
            throw Refused.of(refusals);
        }
    }

    /** A partition that ends before its last copy: a broker that had not got it has become the leader. */
    private List<String> lost() {
        List<String> lost = new ArrayList<>();
        for (Route route : settings.routes) {
            Map<Integer, Long> last = new TreeMap<>();
            start.offsets.last.forEach((source, copied) -> {
                if (source.topic().equals(route.from)) {
                    copied.reached.forEach((number, offset) -> last.merge(number, offset, Math::max));
                }
            });
            last.entrySet().removeIf(
                reached -> reached.getValue() < ends.getOrDefault(new TopicPartition(route.to, reached.getKey()), 0L));
            if (!last.isEmpty()) {
                int number = last.keySet().iterator().next();
                lost.add(route.to + ", " + last.size() + " of " + start.topics.get(route.to).partitions + " partitions ("
                    + number + " last copy at " + last.get(number) + ", end "
                    + ends.get(new TopicPartition(route.to, number)) + "): it has lost copies, as after an unclean election. "
                    + firstLacking(route.from));
            }
        }
        return lost;
    }

    private List<String> repeated() throws Refused {
        Map<TopicPartition, Long> unread = unread();
        if (unread.isEmpty()) {
            return List.of();
        }
        settle(unread.keySet());
        Map<TopicPartition, Long> stable = cluster.stableEnds(unread.keySet());
        Repeats repeats = new Repeats();
        reader.read(unread, stable, IsolationLevel.READ_COMMITTED, repeats::next);
        Map<TopicPartition, Long> begins = begins(unread.keySet(), repeats);
        reader.read(begins, readable, isolation, repeats::behind);
        Map<TopicPartition, Long> left = new HashMap<>(unread);
        left.keySet().removeAll(repeats.found.keySet());
        reader.read(left, stable, IsolationLevel.READ_COMMITTED, repeats::unread);
        if (settings.mode == Mode.BY_KEY) {
            withoutEqualOnes(repeats);
        }
        // Another instance may have copied them since the start, or a transaction of a killed one has ended.
        Map<TopicPartition, Long> now = repeats.found.isEmpty() ? Map.of() : cluster.stablyCommitted(repeats.found.keySet());
        repeats.found.keySet()
            .removeIf(source -> now.getOrDefault(source, -1L) > start.offsets.committed.get(source));
        List<String> refusals = new ArrayList<>();
        repeats.found.values().stream().map(copied -> copied.firstEntry().getValue())
            .collect(groupingBy(copied -> copied.record.topic(), TreeMap::new, toList()))
            .forEach((topic, copied) -> refusals.add(sentence(topic, copied)));
        return refusals;
    }

    private String sentence(String topic, Collection<Copied> copied) {
        String places = copied.stream().limit(SHOWN).map(Copied::toString).collect(joining("; "));
        return topic + ", " + copied.size() + " of " + start.topics.get(topic).partitions + " partitions (" + places
            + (copied.size() > SHOWN ? "; …" : "") + "): records after the committed offsets are in " + targets.get(topic)
            + " already, such as after a backup of the offsets was restored. " + firstLacking(topic);
    }

    private String firstLacking(String topic) {
        return "Find the first record that it lacks (docs/copier_on_call.md), and commit its offset"
            + " (kstreams-runbooks copier seed COPIER --at " + topic + ":PARTITION:OFFSET --replace " + topic
            + " --may-repeat " + targets.get(topic) + " --execute).";
    }

    /** The offsets of partitions that have something to copy, and more behind their last copy than its marker. */
    private Map<TopicPartition, Long> unread() throws Refused {
        Map<TopicPartition, Long> unread = new HashMap<>();
        start.offsets.last.forEach((source, copied) -> {
            if (copied.reached.entrySet().stream().anyMatch(reached ->
                    ends.getOrDefault(target(source, reached.getKey()), 0L) > reached.getValue() + 1 + MARKER)) {
                unread.put(source, start.offsets.committed.get(source));
            }
        });
        Map<TopicPartition, Long> stable = cluster.stableEnds(unread.keySet());
        unread.keySet().removeIf(source -> unread.get(source) >= stable.get(source));
        return unread;
    }

    /** That of a killed copier ends by its timeout. Behind one that stays open, what may become readable counts. */
    private void settle(Set<TopicPartition> sources) throws Refused {
        Set<TopicPartition> open = new HashSet<>();
        sources.forEach(source -> open.addAll(reachedBy(source)));
        Duration patience = settings.transactionTimeout().plus(Cluster.LOOKED_FOR);
        long begun = System.nanoTime();
        boolean said = false;
        while (true) {
            open.removeIf(target -> readable.get(target) >= ends.get(target));
            if (open.isEmpty()) {
                return;
            }
            long waited = System.nanoTime() - begun;
            if (waited > SAID_AFTER.toNanos() && !said) {
                said = true;
                Events.say("waits up to " + patience.toSeconds() + " s for open transactions in " + open.size()
                    + " partitions of targets, such as that of a killed copier, before it looks at the copies behind them");
            }
            if (waited > patience.toNanos()) {
                isolation = IsolationLevel.READ_UNCOMMITTED;
                readable = ends;
                return;
            }
            LockSupport.parkNanos(LOOK_AGAIN.toNanos());
            readable = cluster.stableEnds(readable.keySet());
        }
    }

    /** Behind the last copies; by key, not before the first record that is as old as the next ones. */
    private Map<TopicPartition, Long> begins(Set<TopicPartition> sources, Repeats repeats) throws Refused {
        Map<TopicPartition, Long> begins = new HashMap<>();
        for (TopicPartition source : sources) {
            for (TopicPartition target : reachedBy(source)) {
                begins.merge(target, reached(source, target.partition()) + 1, Math::min);
            }
        }
        if (settings.mode == Mode.BY_KEY) {
            cluster.since(begins.keySet(), repeats.oldestMs).forEach((target, since) ->
                begins.merge(target, since < 0 ? Long.MAX_VALUE : since, Math::max));
        }
        cluster.firsts(begins.keySet()).forEach((target, first) -> begins.merge(target, first, Math::max));
        return begins;
    }

    /** Of several partitions, such as ticks that are sent to each: as many copies are those of the others. */
    private void withoutEqualOnes(Repeats repeats) throws Refused {
        Map<Content, Map<TopicPartition, Integer>> copied = new HashMap<>();
        repeats.found.values().stream().filter(few -> few.size() <= FEW).flatMap(few -> few.values().stream())
            .forEach(each -> copied.put(each.content, new HashMap<>()));
        if (copied.isEmpty()) {
            return;
        }
        long oldestMs = copied.keySet().stream().mapToLong(content -> content.atMs).min().orElseThrow();
        Map<TopicPartition, Long> begins = new HashMap<>(cluster.since(start.offsets.committed.keySet(), oldestMs));
        begins.values().removeIf(since -> since < 0);
        reader.read(begins, start.offsets.committed, IsolationLevel.READ_COMMITTED, record -> {
            Map<TopicPartition, Integer> times = copied.get(new Content(record));
            if (times != null) {
                times.merge(place(record), 1, Integer::sum);
            }
            return true;
        });
        repeats.found.entrySet().removeIf(few -> few.getValue().values().stream().allMatch(each ->
            repeats.times.get(each.content) <= copied.getOrDefault(each.content, Map.of()).entrySet().stream()
                .filter(times -> isOther(times.getKey(), few.getKey())).mapToInt(Map.Entry::getValue).sum()));
    }

    private static boolean isOther(TopicPartition one, TopicPartition other) {
        return one.topic().equals(other.topic()) && one.partition() != other.partition();
    }

    private List<TopicPartition> reachedBy(TopicPartition source) {
        return start.offsets.last.get(source).reached.keySet().stream().map(number -> target(source, number))
            .filter(ends::containsKey).collect(toList());
    }

    /** No offset is behind that of an unknown last copy. */
    private long reached(TopicPartition source, int number) {
        return start.offsets.last.get(source).reached.getOrDefault(number, Long.MAX_VALUE);
    }

    private TopicPartition target(TopicPartition source, int number) {
        return new TopicPartition(targets.get(source.topic()), number);
    }

    private static TopicPartition place(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    /** What is found by reading three ranges, in this order. */
    private final class Repeats {
        /** By source partition and offset: all of a few, else some with the first. */
        final Map<TopicPartition, TreeMap<Long, Copied>> found =
            new TreeMap<>(comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
        /** How many copies there are behind the last ones, as far as they were read. */
        final Map<Content, Integer> times = new HashMap<>();
        long oldestMs = Long.MAX_VALUE;
        private final Map<TopicPartition, Map<Content, Map<TopicPartition, ConsumerRecord<byte[], byte[]>>>> next =
            new HashMap<>();
        private final Map<TopicPartition, ArrayDeque<ConsumerRecord<byte[], byte[]>>> last = new HashMap<>();
        private final Map<TopicPartition, Map<Content, List<ConsumerRecord<byte[], byte[]>>>> newest = new HashMap<>();
        private final Map<TopicPartition, Integer> compared = new HashMap<>();

        /** Of a source, the first ones of a poll. */
        boolean next(ConsumerRecord<byte[], byte[]> record) {
            oldestMs = Math.min(oldestMs, record.timestamp());
            next.computeIfAbsent(copyOf(record), target -> new HashMap<>())
                .computeIfAbsent(new Content(record), content -> new HashMap<>()).putIfAbsent(place(record), record);
            return false;
        }

        /** Of a target, all behind the last copies. */
        boolean behind(ConsumerRecord<byte[], byte[]> copy) {
            ArrayDeque<ConsumerRecord<byte[], byte[]>> latest = last.computeIfAbsent(place(copy), place -> new ArrayDeque<>());
            latest.add(copy);
            if (latest.size() > LAST) {
                latest.remove();
            }
            Content content = new Content(copy);
            Map<TopicPartition, ConsumerRecord<byte[], byte[]>> records =
                next.getOrDefault(place(copy), Map.of()).getOrDefault(content, Map.of());
            if (!records.isEmpty()) {
                times.merge(content, 1, Integer::sum);
            }
            records.values().forEach(record -> add(record, copy, content));
            return true;
        }

        /** Of a source without a copy so far, all of them. */
        boolean unread(ConsumerRecord<byte[], byte[]> record) {
            Map<Content, List<ConsumerRecord<byte[], byte[]>>> copies =
                newest.computeIfAbsent(copyOf(record), target -> last.getOrDefault(target, new ArrayDeque<>()).stream()
                    .collect(groupingBy(Content::new)));
            Content content = copies.isEmpty() ? null : new Content(record);
            if (content != null && copies.containsKey(content)) {
                copies.get(content).forEach(copy -> add(record, copy, content));
                times.merge(content, copies.get(content).size(), Math::max);
            }
            boolean isEnough = found.containsKey(place(record))
                && (settings.mode == Mode.SAME_PARTITION || found.get(place(record)).size() > FEW);
            return !isEnough && (settings.mode == Mode.SAME_PARTITION
                || compared.merge(place(record), 1, Integer::sum) < NEXT_BY_KEY);
        }

        private void add(ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> copy, Content content) {
            if (copy.offset() <= reached(place(record), copy.partition())) {
                return;
            }
            TreeMap<Long, Copied> copied = found.computeIfAbsent(place(record), source -> new TreeMap<>());
            if (copied.size() <= FEW || record.offset() < copied.firstKey()) {
                copied.putIfAbsent(record.offset(), new Copied(record, copy, content));
            }
        }

        private TopicPartition copyOf(ConsumerRecord<byte[], byte[]> record) {
            int partitions = start.topics.get(targets.get(record.topic())).partitions;
            return target(place(record), settings.mode.partition(record.key(), record.partition(), partitions));
        }
    }

    /** A record that is not copied by its offset, and its copy. */
    private static final class Copied {
        private final ConsumerRecord<byte[], byte[]> record;
        private final ConsumerRecord<byte[], byte[]> copy;
        private final Content content;

        private Copied(ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> copy, Content content) {
            this.record = record;
            this.copy = copy;
            this.content = content;
        }

        @Override
        public String toString() {
            return record.partition() + " offset " + record.offset() + " is at " + copy.partition() + ":" + copy.offset();
        }
    }
}
