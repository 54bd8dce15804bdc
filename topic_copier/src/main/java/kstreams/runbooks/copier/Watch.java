package kstreams.runbooks.copier;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;

/** Looks at the cluster while the copier runs: the lag, topics that change, and whether `until` is reached. */
final class Watch extends Thread {
    private static final long EVERY_MS = 10_000;
    private static final long UNTIL_EVERY_MS = 300;

    private final Settings settings;
    private final Cluster cluster;
    private final StartChecks start;
    private final Figures figures;
    private final Ending ending;
    private final Set<String> absent = new HashSet<>();
    /** Of each partition of a compacted source: when it was last seen copied to its end, and that end. */
    private final Map<TopicPartition, Long> doneAtMs = new HashMap<>();
    private final Map<TopicPartition, Long> doneTo = new HashMap<>();
    private List<String> changed = List.of();
    private long lookedAtMs;
    private boolean answers = true;

    Watch(Settings settings, Cluster cluster, StartChecks start, Figures figures, Ending ending) {
        super("copier-watch");
        setDaemon(true);
        this.settings = settings;
        this.cluster = cluster;
        this.start = start;
        this.figures = figures;
        this.ending = ending;
    }

    @Override
    public void run() {
        while (!ending.hasBegun()) {
            try {
                look();
                if (!answers) {
                    Events.say("the brokers answer again");
                }
                answers = true;
            } catch (Refused error) {
                if (settings.until.isGiven() && settings.until.left(figures.committed()) == 0) {
                    ending.failed(error.getMessage());
                }
                figures.error(error.getMessage());
                if (answers) {
                    Events.say("cannot be watched: " + error.getMessage());
                }
                answers = false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(settings.until.isGiven() ? UNTIL_EVERY_MS : EVERY_MS));
        }
    }

    private void look() throws Refused {
        figures.committed(cluster.committed());
        Optional<TopicPartition> past = settings.until.passed(figures.committed());
        if (past.isPresent()) {
            ending.failed(past.get() + " is committed at " + figures.committed().get(past.get()) + ", past until: another"
                + " instance of group " + settings.group + " copies with other settings. Stop all, and give all the same.");
            return;
        }
        if (settings.until.isGiven() && settings.until.left(figures.committed()) == 0) {
            // Another client may have committed the offset, or a partition may be new.
            new StartChecks(settings, cluster);
            ending.done("until is reached: every partition is committed at its offset");
            return;
        }
        long now = System.currentTimeMillis();
        if (now - lookedAtMs >= EVERY_MS) {
            lookedAtMs = now;
            topics(cluster.describe());
            if (absent.isEmpty() && !ending.hasBegun()) {
                rules(cluster.topics());
            }
            Map<TopicPartition, Long> ends = cluster.stableEnds(start.offsets.first.keySet());
            figures.ends(ends);
            for (Route route : settings.routes) {
                deletions(route, ends, now);
            }
        }
    }

    /** A copier that is suspended or behind for long never reads a deletion that is compacted away meanwhile. */
    private void deletions(Route route, Map<TopicPartition, Long> ends, long now) throws Refused {
        TopicFacts from = start.topics.get(route.from);
        long keptMs = from.compacts() ? from.limit("delete.retention.ms") : Long.MAX_VALUE;
        List<Integer> late = new ArrayList<>();
        ends.forEach((partition, end) -> {
            if (!partition.topic().equals(from.name)) {
                return;
            }
            long since = doneAtMs.computeIfAbsent(partition, first -> now);
            if (now - since > keptMs && end > doneTo.getOrDefault(partition, 0L)) {
                late.add(partition.partition());
            }
            if (figures.committed().getOrDefault(partition, 0L) >= end || now - since > keptMs) {
                doneAtMs.put(partition, now);
                doneTo.put(partition, end);
            }
        });
        if (!late.isEmpty()) {
            Collections.sort(late);
            String sentence = from.name + " is compacted, and " + late.size() + " of " + from.partitions + " partitions ("
                + late + ") were not copied to their end for longer than delete.retention.ms="
                + from.value("delete.retention.ms") + ". " + StartChecks.lacks(from.name, route.to);
            Events.say("WARNING: " + sentence);
            figures.error(sentence);
        }
    }

    /** What has been copied may go from the target too early: the readers are not stopped for it, a person is told. */
    private void rules(Map<String, TopicFacts> now) throws Refused {
        List<String> refusals = new ArrayList<>();
        for (Route route : settings.routes) {
            refusals.addAll(TopicRules.refusals(now.get(route.from), now.get(route.to), settings.mode));
        }
        if (!refusals.isEmpty() && !refusals.equals(changed)) {
            String sentence = "a setting of a topic was changed, and the next start would be refused: "
                + String.join(" ", refusals);
            Events.say("WARNING: " + sentence);
            figures.error(sentence);
        }
        changed = refusals;
    }

    /** A topic that is another one now, or has more partitions, is not what the copier was started for. */
    private void topics(Map<String, TopicDescription> now) {
        for (TopicFacts was : start.topics.values()) {
            String name = was.name;
            TopicDescription topic = now.get(name);
            if (topic == null) {
                // A broker that has just come back may not know it yet.
                if (!absent.add(name)) {
                    ending.failed(Cluster.absent(name));
                }
                continue;
            }
            absent.remove(name);
            int partitions = topic.partitions().size();
            if (!topic.topicId().equals(was.id)) {
                ending.failed("topic " + name + " was deleted and created again while the copier ran (id "
                    + was.id + ", now " + topic.topicId() + "). Compare source and target, then commit the"
                    + " offsets at which the copy goes on.");
            } else if (partitions != was.partitions) {
                ending.failed("topic " + name + " had " + was.partitions + " partitions when the copier started, and has "
                    + partitions + ". " + (settings.mode == Mode.BY_KEY
                        ? "Keys have other partitions from now on: the next start names what to do first."
                        : "Start the copier again: it checks both topics of the route."));
            }
        }
    }
}
