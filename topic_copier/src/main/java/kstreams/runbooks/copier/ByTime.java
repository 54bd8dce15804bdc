package kstreams.runbooks.copier;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Gives Kafka Streams the records of all partitions merged by their time, and not faster than the pace.
 *
 * <p>Readers of a backlog that is copied as it is read see one partition run ahead of another, and drop what comes
 * late. A record whose time goes back within its partition counts with the highest time before it. A partition
 * without a record at hand holds the others back, unless it is read to its end: its last stable offset.
 *
 * <p>Called by the one stream thread, at each poll.
 */
final class ByTime {
    /** Kafka Streams takes the partitions of one poll in turn: within it, records are in no order of time. */
    private static final long SPAN_MS = 1000;
    private static final int MAX_RECORDS = 1000;
    private static final int MAX_BYTES = 1024 * 1024;
    /** Budget that is not used up lasts as long. */
    private static final long CARRIED_MS = 5000;
    /** A time without records in the source is waited for as long: readers have read what came before it by then. */
    private static final long GAP_MS = 15_000;
    private static final Duration UNLIMITED = Duration.ofDays(1);
    private static final Duration PACED = Duration.ofMillis(20);
    private static final long INCOMPLETE_MS = 60_000;
    private static final Duration NOW = Duration.ofMillis(200);

    private final double pace;
    private final Set<TopicPartition> all;
    private final Map<TopicPartition, Long> until;
    private final Ending ending;
    private final Map<TopicPartition, Waiting> waiting = new HashMap<>();
    /** Where Kafka Streams is to go on once it has got everything that waits. */
    private final Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
    /** The highest time of the records that were released, of each partition. */
    private final Map<TopicPartition, Long> times = new HashMap<>();
    private final Set<TopicPartition> pausedByStreams = new HashSet<>();
    private final Set<TopicPartition> pausedHere = new HashSet<>();
    private long budgetAtMs;
    private double budgetTime = Double.NaN;
    private long releasedAtMs;
    private long incompleteSinceMs = -1;
    /** How long the next poll may wait: not at all while more is due, and not for long while the pace holds back. */
    private Duration patience = UNLIMITED;
    private volatile long reachedMs = -1;

    /**
     * Merges the records of these partitions.
     *
     * @param all partitions of the sources: this process has to have each
     */
    ByTime(Order order, Set<TopicPartition> all, Until until, Ending ending) {
        this.pace = order.pace;
        this.all = Set.copyOf(all);
        this.until = until.ends();
        this.ending = ending;
    }

    /** The highest time of a record that was released; -1 before the first. */
    long reachedMs() {
        return reachedMs;
    }

    /** How long a poll may wait for records. */
    Duration patience(Duration limit) {
        return limit.compareTo(patience) < 0 ? limit : patience;
    }

    /** The records that are due, of those that waited and those that were polled. */
    ConsumerRecords<byte[], byte[]> due(Consumer<byte[], byte[]> consumer, ConsumerRecords<byte[], byte[]> polled) {
        next.putAll(polled.nextOffsets());
        for (TopicPartition partition : polled.partitions()) {
            waiting.computeIfAbsent(partition, first -> new Waiting(times.getOrDefault(first, -1L)))
                .add(polled.records(partition));
        }
        ConsumerRecords<byte[], byte[]> due = isComplete(consumer) ? release(consumer) : ConsumerRecords.empty();
        holdBack(consumer);
        return due;
    }

    /** Kafka Streams has no room for more of these. */
    void paused(Collection<TopicPartition> partitions) {
        pausedByStreams.addAll(partitions);
    }

    /** Of the partitions that Kafka Streams resumes, those of which too little waits here. */
    Collection<TopicPartition> resumed(Collection<TopicPartition> partitions) {
        pausedByStreams.removeAll(partitions);
        Set<TopicPartition> resumed = new HashSet<>(partitions);
        resumed.removeAll(pausedHere);
        return resumed;
    }

    /** Kafka Streams reads these from another offset: what waits here was read before. */
    void forget(Collection<TopicPartition> partitions) {
        waiting.keySet().removeAll(partitions);
        next.keySet().removeAll(partitions);
        times.keySet().removeAll(partitions);
    }

    /** These go to another member, or come again; then nothing of them is paused. */
    void revoked(Collection<TopicPartition> partitions) {
        forget(partitions);
        pausedByStreams.removeAll(partitions);
        pausedHere.removeAll(partitions);
    }

    /** Whether this process has every partition: another instance would go on with its own at a time of its own. */
    private boolean isComplete(Consumer<byte[], byte[]> consumer) {
        int assigned = consumer.assignment().size();
        if (assigned == all.size()) {
            incompleteSinceMs = -1;
            return true;
        }
        patience = UNLIMITED;
        long now = steadyMs();
        if (incompleteSinceMs < 0) {
            incompleteSinceMs = now;
        } else if (now - incompleteSinceMs > INCOMPLETE_MS && assigned > 0) {
            ending.failed("order=by-time needs all " + all.size() + " partitions in one instance, and this one has "
                + assigned + " of them. Stop the other instance of the group, or set order=as-read.");
        }
        return false;
    }

    private ConsumerRecords<byte[], byte[]> release(Consumer<byte[], byte[]> consumer) {
        long now = steadyMs();
        PriorityQueue<Waiting> heads = new PriorityQueue<>(Comparator.comparingLong(Waiting::time));
        long limit = Long.MAX_VALUE;
        for (TopicPartition partition : all) {
            Waiting records = waiting.get(partition);
            if (records != null && !records.isEmpty()) {
                heads.add(records);
            } else if (!isAtEnd(consumer, partition)) {
                // What comes counts with at least this time.
                limit = Math.min(limit, times.getOrDefault(partition, -1L));
            }
        }
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> due = new HashMap<>();
        patience = UNLIMITED;
        if (!heads.isEmpty()) {
            long first = heads.peek().time();
            double budget = budget(now, first);
            double last = Math.min(Math.min(limit, first + SPAN_MS), budget);
            for (int count = 0; count < MAX_RECORDS && isDue(heads, last); count++) {
                Waiting records = heads.poll();
                reachedMs = Math.max(reachedMs, records.time());
                releasedAtMs = now;
                times.put(records.partition(), records.time());
                due.computeIfAbsent(records.partition(), one -> new ArrayList<>()).add(records.remove());
                if (!records.isEmpty()) {
                    heads.add(records);
                }
            }
            patience = isDue(heads, Math.min(limit, budget)) ? Duration.ZERO : first > budget ? PACED : UNLIMITED;
        }
        return new ConsumerRecords<>(due, goOn(due.keySet()));
    }

    private boolean isDue(PriorityQueue<Waiting> heads, double last) {
        Waiting first = heads.peek();
        return first != null && first.time() <= last && !pausedByStreams.contains(first.partition());
    }

    /** Up to which time records may be released; a source without records for a while is not waited out. */
    private double budget(long now, long first) {
        if (Double.isInfinite(pace)) {
            return pace;
        }
        if (Double.isNaN(budgetTime) || first > budgetTime && now - releasedAtMs > GAP_MS) {
            budgetTime = first;
        } else {
            double most = Math.max(first, reachedMs) + pace * CARRIED_MS;
            budgetTime = Math.min(budgetTime + pace * (now - budgetAtMs), most);
        }
        budgetAtMs = now;
        return budgetTime;
    }

    /** The next offset of each partition of which nothing is kept back that Kafka Streams should have had. */
    private Map<TopicPartition, OffsetAndMetadata> goOn(Set<TopicPartition> due) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (Map.Entry<TopicPartition, OffsetAndMetadata> end : next.entrySet()) {
            Waiting records = waiting.get(end.getKey());
            if (records == null || records.isEmpty()) {
                offsets.put(end.getKey(), end.getValue());
            } else if (due.contains(end.getKey())) {
                offsets.put(end.getKey(), new OffsetAndMetadata(records.offset()));
            }
        }
        next.keySet().removeIf(partition -> waiting.get(partition) == null || waiting.get(partition).isEmpty());
        return offsets;
    }

    private boolean isAtEnd(Consumer<byte[], byte[]> consumer, TopicPartition partition) {
        long end = until.getOrDefault(partition, Long.MAX_VALUE);
        try {
            return consumer.position(partition, NOW) >= end || consumer.currentLag(partition).orElse(end) <= 0;
        } catch (RetriableException error) {
            return false;
        }
    }

    /** Milliseconds that no correction of the clock changes. */
    private static long steadyMs() {
        return System.nanoTime() / 1_000_000;
    }

    /** No more is read of a partition of which enough waits. */
    private void holdBack(Consumer<byte[], byte[]> consumer) {
        Set<TopicPartition> full = new HashSet<>();
        for (Waiting records : waiting.values()) {
            if (records.isFull()) {
                full.add(records.partition());
            }
        }
        Set<TopicPartition> resumed = new HashSet<>(pausedHere);
        resumed.removeAll(full);
        resumed.removeAll(pausedByStreams);
        resumed.retainAll(consumer.assignment());
        pausedHere.clear();
        pausedHere.addAll(full);
        consumer.pause(full);
        consumer.resume(resumed);
    }

    /** The records of one partition that Kafka Streams has not got yet; the time of the first is the highest so far. */
    private static final class Waiting {
        private final Deque<ConsumerRecord<byte[], byte[]>> records = new ArrayDeque<>();
        private long bytes;
        private long time;

        private Waiting(long time) {
            this.time = time;
        }

        private void add(List<ConsumerRecord<byte[], byte[]>> polled) {
            for (ConsumerRecord<byte[], byte[]> record : polled) {
                if (records.isEmpty()) {
                    time = Math.max(time, timeOf(record));
                }
                records.add(record);
                bytes += size(record);
            }
        }

        private ConsumerRecord<byte[], byte[]> remove() {
            ConsumerRecord<byte[], byte[]> record = records.remove();
            bytes -= size(record);
            if (!records.isEmpty()) {
                time = Math.max(time, timeOf(records.peek()));
            }
            return record;
        }

        /** A record from the future counts as of now: its partition would wait for that time. */
        private static long timeOf(ConsumerRecord<byte[], byte[]> record) {
            return Math.min(record.timestamp(), System.currentTimeMillis());
        }

        private static long size(ConsumerRecord<byte[], byte[]> record) {
            return Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
        }

        private boolean isEmpty() {
            return records.isEmpty();
        }

        private boolean isFull() {
            return records.size() >= MAX_RECORDS || bytes >= MAX_BYTES;
        }

        private long time() {
            return time;
        }

        private long offset() {
            return records.element().offset();
        }

        private TopicPartition partition() {
            ConsumerRecord<byte[], byte[]> first = records.element();
            return new TopicPartition(first.topic(), first.partition());
        }
    }
}
