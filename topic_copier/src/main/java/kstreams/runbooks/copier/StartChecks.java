package kstreams.runbooks.copier;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;

/** Everything that has to be true before the first record is copied; asked again when the copier has failed. */
final class StartChecks {
    /** Partitions of each topic. */
    final Map<String, Integer> partitions = new TreeMap<>();
    /** The id of each topic. */
    final Map<String, Uuid> ids = new TreeMap<>();
    final OffsetFacts offsets;
    /** What a person should know, and what refuses nothing. */
    final List<String> remarks = new ArrayList<>();

    /** Refused with every reason that was found. */
    StartChecks(Settings settings, Cluster cluster) throws Refused {
        Map<String, TopicFacts> topics = cluster.topics();
        List<String> refusals = new ArrayList<>();
        for (TopicFacts topic : topics.values()) {
            partitions.put(topic.name, topic.partitions);
            ids.put(topic.name, topic.id);
        }
        for (Route route : settings.routes) {
            TopicFacts from = topics.get(route.from);
            TopicFacts to = topics.get(route.to);
            refusals.addAll(rights(from.rights, AclOperation.READ, "Read", "topic " + from.name));
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
        offsets = cluster.offsets(cluster.sources(partitions));
        refusals.addAll(OffsetRules.refusals(settings, offsets));
        if (!refusals.isEmpty()) {
            throw Refused.of(refusals);
        }
    }

    private static List<String> rights(Set<AclOperation> granted, AclOperation needed, String written, String object) {
        return granted.contains(needed) ? List.of()
            : List.of("The copier's login has no right " + written + " on " + object + "; grant it.");
    }
}
