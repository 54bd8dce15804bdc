package kstreams.runbooks.copier;

import java.util.ArrayList;
import java.util.List;

/** What a target has to be like, so that each record of its source is taken as it is, and kept as long. */
final class TopicRules {
    private static final String TIME_TYPE = "message.timestamp.type";
    private static final String BEFORE = "message.timestamp.before.max.ms";
    private static final String AFTER = "message.timestamp.after.max.ms";
    private static final String BYTES = "max.message.bytes";
    private static final List<String> RETENTION = List.of("retention.ms", "retention.bytes");
    private static final List<String> COMPACTION = List.of("delete.retention.ms", "min.compaction.lag.ms");

    private final TopicFacts from;
    private final TopicFacts to;
    private final List<String> refusals = new ArrayList<>();

    private TopicRules(TopicFacts from, TopicFacts to) {
        this.from = from;
        this.to = to;
    }

    static List<String> refusals(TopicFacts from, TopicFacts to, Mode mode) throws Refused {
        TopicRules rules = new TopicRules(from, to);
        rules.partitions(mode);
        rules.times();
        rules.atLeast(BYTES, from.limit(BYTES), "it would not take a record that the source has");
        rules.cleanup();
        return rules.refusals;
    }

    private void partitions(Mode mode) {
        String counts = from.name + " has " + from.partitions + " partitions and " + to.name + " has " + to.partitions
            + ". ";
        if (mode == Mode.SAME_PARTITION && from.partitions != to.partitions) {
            refusals.add(counts + "Mode same-partition needs equal counts: "
                + (from.partitions > to.partitions
                    ? "stop the readers of " + to.name + ", whose keys move, then add partitions to it"
                        + " (kafka-topics --alter --topic " + to.name + " --partitions " + from.partitions + ")"
                    : "add partitions to " + from.name + " before its producers use them")
                + ", or copy into another topic with mode=by-key.");
        }
        if (mode == Mode.BY_KEY && from.partitions > to.partitions) {
            refusals.add(counts + "In mode by-key a record without a key keeps the number of its partition: "
                + to.name + " needs at least " + from.partitions + ".");
        }
    }

    private void times() throws Refused {
        if (to.hasBrokersTime()) {
            refusals.add(to.name + " has " + TIME_TYPE + "=LogAppendTime: copies would lose the times of their records."
                + " Set " + TIME_TYPE + "=CreateTime on " + to.name + ".");
            return;
        }
        // A record is older when it is copied than when it was sent: by as long as the source keeps it.
        long age = from.hasBrokersTime() ? 0 : from.limit(BEFORE);
        atLeast(BEFORE, sum(age, kept(from)), "it would not take a record that is copied late");
        if (!from.hasBrokersTime()) {
            atLeast(AFTER, from.limit(AFTER), "it would not take a record that the source has taken");
        }
    }

    private void cleanup() throws Refused {
        if (to.compacts() && !from.compacts()) {
            refusals.add(to.name + " has cleanup.policy=" + to.value("cleanup.policy") + " and " + from.name + " has "
                + from.value("cleanup.policy") + ": the target would lose earlier records of a key, and takes none"
                + " without a key. Set cleanup.policy=" + from.value("cleanup.policy") + " on " + to.name + ".");
            return;
        }
        if (to.deletes()) {
            for (String setting : RETENTION) {
                if (from.deletes()) {
                    atLeast(setting, from.limit(setting), "it would delete records that the source still has");
                } else if (to.limit(setting) != Long.MAX_VALUE) {
                    rowsLost(setting);
                }
            }
        }
        if (to.compacts()) {
            for (String setting : COMPACTION) {
                atLeast(setting, from.limit(setting), "it would remove records earlier than the source");
            }
        }
    }

    private void rowsLost(String setting) throws Refused {
        String policy = from.value("cleanup.policy");
        refusals.add(to.name + " has cleanup.policy=" + to.value("cleanup.policy") + " and " + setting + "="
            + to.value(setting) + ", and " + from.name + " has cleanup.policy=" + policy + ": a table that reads the"
            + " copy would lose rows. Set cleanup.policy=" + policy + " on " + to.name + ", or " + setting + "=-1.");
    }

    private void atLeast(String setting, long needed, String consequence) throws Refused {
        if (to.limit(setting) < needed) {
            boolean without = needed == Long.MAX_VALUE && !setting.startsWith("message.");
            String written = without ? "-1" : String.valueOf(needed);
            refusals.add(to.name + " has " + setting + "=" + to.value(setting) + ", below " + written + " for "
                + from.name + ": " + consequence + ". Set " + setting + "=" + written + " on " + to.name + ".");
        }
    }

    private static long kept(TopicFacts topic) throws Refused {
        return topic.deletes() && !topic.compacts() ? topic.limit("retention.ms") : Long.MAX_VALUE;
    }

    private static long sum(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }
}
