package kstreams.runbooks.copier;

import static java.util.stream.Collectors.toList;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/** Where a copy may begin and end: at committed offsets that the source still has, never at auto.offset.reset. */
final class OffsetRules {
    private static final int SHOWN = 3;

    private final String group;
    private final OffsetFacts offsets;
    private final Until until;
    private final Settings settings;
    private final Map<String, TopicFacts> topics;
    /** Targets that have had a record. */
    private final Set<String> written;
    private final List<String> refusals = new ArrayList<>();

    private OffsetRules(Settings settings, Map<String, TopicFacts> topics, OffsetFacts offsets, Set<String> written) {
        this.settings = settings;
        this.topics = topics;
        this.written = written;
        group = settings.group;
        until = settings.until;
        this.offsets = offsets;
    }

    /** @param written targets that have had a record */
    static List<String> refusals(Settings settings, Map<String, TopicFacts> topics, OffsetFacts offsets,
            Set<String> written) {
        OffsetRules rules = new OffsetRules(settings, topics, offsets, written);
        if (rules.until.isGiven()) {
            rules.untilNamesEachPartition();
        }
        Map<String, List<TopicPartition>> byTopic = new TreeMap<>();
        for (TopicPartition partition : offsets.first.keySet()) {
            byTopic.computeIfAbsent(partition.topic(), topic -> new ArrayList<>()).add(partition);
        }
        byTopic.forEach(rules::places);
        settings.routes.forEach(rules::target);
        return rules.refusals;
    }

    /** What is wrong with the targets that the offsets name, of topics as they were at the start. */
    static List<String> ofTargets(Settings settings, Map<String, TopicFacts> topics, OffsetFacts offsets) {
        OffsetRules rules = new OffsetRules(settings, topics, offsets, Set.of());
        settings.routes.forEach(rules::target);
        return rules.refusals;
    }

    /** The target is the one that the records before the committed offsets are in, or that a person has chosen. */
    private void target(Route route) {
        TopicFacts to = topics.get(route.to);
        List<TopicPartition> committed = offsets.committed.keySet().stream()
            .filter(partition -> partition.topic().equals(route.from)).collect(toList());
        refuse(committed, partition -> !offsets.last.containsKey(partition), partition -> "",
            "another program has committed as group " + group + ", so records before this offset may be missing from "
                + to.name, "Find the first one that it lacks (docs/copier_on_call.md), and commit its offset ("
                + seed("--at " + route.from + ":PARTITION:OFFSET --replace " + route.from + " --may-repeat " + to.name)
                + ").");
        List<TopicPartition> copied = committed.stream().filter(offsets.last::containsKey).collect(toList());
        TopicFacts from = topics.get(route.from);
        refuse(copied, partition -> !last(partition).source.equals(from.id),
            partition -> ", of id " + last(partition).source,
            "the committed offsets are those of another topic, which " + from.name + " (id " + from.id + ") is not: it was"
                + " deleted and created again, or offsets were restored for it", "Give each partition the offset of the first"
                + " record that " + to.name + " lacks (" + seed("--at " + route.from + ":PARTITION:OFFSET --replace "
                + route.from + " --may-repeat " + to.name) + ").");
        refuse(copied, partition -> !last(partition).target.equals(to.id),
            partition -> ", for id " + last(partition).target,
            "the records before the committed offsets are not in " + to.name + " (id " + to.id + "): it was deleted and"
                + " created again, or the route had another target", "Give each partition the offset of the"
                + " first record that " + to.name + " is to have (" + seed("--at " + route.from
                + ":PARTITION:OFFSET --replace " + route.from) + "). To copy all again, create " + to.name
                + " again first: what this copier has written into it meanwhile would be there twice.");
    }

    private static String seed(String place) {
        return "kstreams-runbooks copier seed COPIER " + place + " --execute";
    }

    private String target(String source) {
        return settings.routes.stream().filter(route -> route.from.equals(source)).findFirst().orElseThrow().to;
    }

    private LastCopied last(TopicPartition partition) {
        return offsets.last.get(partition);
    }

    private void places(String topic, List<TopicPartition> partitions) {
        List<TopicPartition> seeded = partitions.stream().filter(offsets.committed::containsKey).collect(toList());
        List<TopicPartition> limited = seeded.stream().filter(until.ends()::containsKey).collect(toList());
        refuse(partitions, partition -> !offsets.committed.containsKey(partition), partition -> "",
            "no committed offset in group " + group, "The copier never chooses where to begin: commit for each the"
                + " offset of the first record to copy (" + seed("--at " + topic + ":PARTITION:OFFSET"
                + (written.contains(target(topic)) ? " --may-repeat " + target(topic) : ""))
                + "; COPIER is its name in the fleet).");
        refuse(seeded, partition -> committed(partition) < first(partition) && !isThere(partition),
            partition -> ", log start " + first(partition),
            "records were deleted before they were copied, or the offset was set back", "Find the first record that "
                + target(topic) + " lacks (docs/copier_on_call.md), and commit its offset, or the log start if the"
                + " target lacks all that is left (" + seed("--at " + topic + ":PARTITION:OFFSET --replace " + topic
                + (written.contains(target(topic)) ? " --may-repeat " + target(topic) : "")) + ").");
        refuse(seeded, partition -> committed(partition) > end(partition), partition -> ", end " + end(partition),
            "the committed offset is past the end: the topic was created again, or has lost records",
            "Compare source and target, then commit the offset at which the copy goes on ("
                + seed("--at " + topic + ":PARTITION:OFFSET --replace " + topic + " --may-repeat " + target(topic))
                + ").");
        refuse(limited, partition -> committed(partition) > limit(partition),
            partition -> ", until " + limit(partition), "until is before the committed offset",
            "Records after it are copied already: remove until, or correct it.");
        refuse(limited, partition -> limit(partition) > end(partition),
            partition -> ", until " + limit(partition) + ", end " + end(partition),
            "until is past the end of the source", "Give an offset that the source has.");
    }

    private void refuse(List<TopicPartition> partitions, Predicate<TopicPartition> wrong,
            Function<TopicPartition, String> figures, String what, String remedy) {
        List<TopicPartition> found = partitions.stream().filter(wrong)
            .sorted(Comparator.comparingInt(TopicPartition::partition)).collect(toList());
        if (!found.isEmpty()) {
            List<String> places = found.stream().map(partition -> partition.partition()
                + (offsets.committed.containsKey(partition) ? " committed " + committed(partition) : "")
                + figures.apply(partition)).collect(toList());
            String topic = found.get(0).topic();
            long all = offsets.first.keySet().stream().filter(partition -> partition.topic().equals(topic)).count();
            refusals.add(topic + ", " + found.size() + " of " + all + " partitions (" + some(places) + "): " + what
                + ". " + remedy);
        }
    }

    private void untilNamesEachPartition() {
        refuseNames(offsets.first.keySet().stream().filter(partition -> !until.ends().containsKey(partition)),
            "until has no offset for ", "Give one for each partition of each route.");
        refuseNames(until.ends().keySet().stream().filter(partition -> !offsets.first.containsKey(partition)),
            "until names ", "No route has them: correct until.");
    }

    private void refuseNames(Stream<TopicPartition> partitions, String begin, String remedy) {
        TreeSet<String> names = partitions.map(TopicPartition::toString).collect(Collectors.toCollection(TreeSet::new));
        if (!names.isEmpty()) {
            refusals.add(begin + names.size() + " partitions (" + some(new ArrayList<>(names)) + "). " + remedy);
        }
    }

    private static String some(List<String> names) {
        String shown = names.stream().limit(SHOWN).collect(Collectors.joining("; "));
        return names.size() > SHOWN ? shown + "; …" : shown;
    }

    private long committed(TopicPartition partition) {
        return offsets.committed.get(partition);
    }

    private long first(TopicPartition partition) {
        return offsets.first.get(partition);
    }

    private long end(TopicPartition partition) {
        return offsets.end.get(partition);
    }

    private long limit(TopicPartition partition) {
        return until.ends().get(partition);
    }

    /** A partition that has reached `until` is done, whatever the source has deleted since. */
    private boolean isThere(TopicPartition partition) {
        return until.ends().containsKey(partition) && limit(partition) == committed(partition);
    }
}
