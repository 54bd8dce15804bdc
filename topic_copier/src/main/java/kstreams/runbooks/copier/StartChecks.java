package kstreams.runbooks.copier;

import static java.util.Comparator.comparingLong;
import static java.util.stream.Collectors.toList;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;

/** Everything that has to be true before the first record is copied; asked again when the copier has failed. */
final class StartChecks {
    /** Each topic of the routes, by its name. */
    final Map<String, TopicFacts> topics;
    final OffsetFacts offsets;
    /** What a person should know, and what refuses nothing. */
    final List<String> remarks = new ArrayList<>();

    /** Refused with every reason that was found. */
    StartChecks(Settings settings, Cluster cluster) throws Refused {
        topics = cluster.topics();
        List<String> refusals = new ArrayList<>();
        for (Route route : settings.routes) {
            TopicFacts from = topics.get(route.from);
            TopicFacts to = topics.get(route.to);
            refusals.addAll(rights(from.rights, AclOperation.READ, "Read", "topic " + from.name));
            refusals.addAll(rights(to.rights, AclOperation.READ, "Read", "topic " + to.name));
            refusals.addAll(rights(to.rights, AclOperation.WRITE, "Write", "topic " + to.name));
            refusals.addAll(TopicRules.refusals(from, to, settings.mode));
            if (from.hasBrokersTime()) {
                remarks.add(from.name
                    + " has LogAppendTime: a copy has the time at which the broker appended its record");
            }
        }
        Set<AclOperation> group = cluster.groupRights();
        if (group != null) {
            refusals.addAll(rights(group, AclOperation.READ, "Read", "group " + settings.group));
        }
        if (refusals.isEmpty()) {
            cluster.awaitAlike();
        }
        offsets = cluster.offsets(cluster.partitions(topics, route -> route.from));
        refusals.addAll(OffsetRules.refusals(settings, topics, offsets, cluster.written(topics)));
        for (Route route : settings.routes) {
            refusals.addAll(settings.grown.refusals(topics.get(route.to), offsets, route.from, settings.mode));
        }
        if (!refusals.isEmpty()) {
            throw Refused.of(refusals);
        }
        for (Route route : settings.routes) {
            if (settings.mode == Mode.BY_KEY && topics.get(route.to).partitions > LastCopied.MOST_REACHED) {
                remarks.add("WARNING: " + route.to + " has more than " + LastCopied.MOST_REACHED + " partitions: offsets that"
                    + " come back from a backup are not found, and records would be copied twice. Before you restore offsets"
                    + " of group " + settings.group + ", look at docs/copier_on_call.md.");
            }
            deletions(topics.get(route.from), route.to, cluster);
            size(topics.get(route.from), topics.get(route.to));
        }
    }

    /** The same limit of both is no protection: bytes count as they are stored, in batches that differ. */
    private void size(TopicFacts from, TopicFacts to) throws Refused {
        if (to.deletes() && to.limit("retention.bytes") != Long.MAX_VALUE) {
            remarks.add("WARNING: " + to.name + " has retention.bytes=" + to.value("retention.bytes") + ": copies in other"
                + " batches may take several times the bytes of their records, so it may delete copies that " + from.name
                + " still has. Set retention.bytes=-1 with a retention.ms, or much more, on " + to.name + ".");
        }
    }

    /** A deletion is compacted away after a time: who reads later never learns of it, and keeps the key. */
    private void deletions(TopicFacts from, String to, Cluster cluster) throws Refused {
        long begin = System.currentTimeMillis() - (from.compacts() ? from.limit("delete.retention.ms") : Long.MAX_VALUE);
        List<TopicPartition> behind = offsets.last.keySet().stream()
            .filter(partition -> partition.topic().equals(from.name) && begin > 0 && offsets.last.get(partition).atMs >= 0
                && offsets.committed.get(partition) < offsets.end.get(partition)).collect(toList());
        Map<TopicPartition, Long> recent = cluster.since(behind, begin);
        behind.removeIf(partition -> recent.get(partition) >= 0
            && recent.get(partition) <= offsets.committed.get(partition));
        if (!behind.isEmpty()) {
            TopicPartition oldest = Collections.min(behind, comparingLong(one -> offsets.last.get(one).atMs));
            remarks.add("WARNING: " + from.name + " is compacted, and " + behind.size() + " of " + from.partitions
                + " partitions have, or had, records to copy from before " + Instant.ofEpochMilli(begin) + ", longer ago than"
                + " delete.retention.ms=" + from.value("delete.retention.ms") + " (" + oldest.partition()
                + " committed " + offsets.committed.get(oldest) + ", last copied record of "
                + Instant.ofEpochMilli(offsets.last.get(oldest).atMs) + "). " + lacks(from.name, to));
        }
    }

    /** What a copy may lack that came too late for the deletions of its source, and how that is found. */
    static String lacks(String from, String to) {
        return "A deletion may be compacted away before it was copied, and " + to + " would keep its key. Once the copy is at"
            + " the end, run kstreams-runbooks compare-topics " + from + " " + to + " --mode latest; if keys are left, copy"
            + " all again into an empty topic.";
    }

    private static List<String> rights(Set<AclOperation> granted, AclOperation needed, String written, String object) {
        return granted.contains(needed) ? List.of()
            : List.of("The copier's login has no right " + written + " on " + object + "; grant it.");
    }
}
