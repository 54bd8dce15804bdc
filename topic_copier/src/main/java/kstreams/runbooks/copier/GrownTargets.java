package kstreams.runbooks.copier;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The targets of mode by-key that were given partitions on purpose, with their new numbers of partitions.
 *
 * <p>With another number, or in another mode, a key goes on in another partition: readers with state by key take it for a
 * new one. A supervisor that starts the copier again may not decide that.
 */
final class GrownTargets {
    private static final Pattern WRITTEN = Pattern.compile("\\s*([A-Za-z0-9._-]+):(\\d{1,9})\\s*");

    private final Map<String, Integer> partitions;

    private GrownTargets(Map<String, Integer> partitions) {
        this.partitions = partitions;
    }

    /** Numbers as {@code orders:12, customers:12}; an empty text has none. */
    static GrownTargets parse(String text, Mode mode, List<Route> routes) throws Refused {
        Map<String, Integer> partitions = new HashMap<>();
        for (String written : text.isEmpty() ? new String[0] : text.split(",")) {
            Matcher target = WRITTEN.matcher(written);
            if (!target.matches()) {
                throw new Refused("partitions: '" + written.trim() + "' is not TARGET:NUMBER.");
            }
            if (routes.stream().noneMatch(route -> route.to.equals(target.group(1)))) {
                throw new Refused("partitions: no route has the target " + target.group(1) + "; correct or remove it.");
            }
            if (partitions.put(target.group(1), Integer.parseInt(target.group(2))) != null) {
                throw new Refused("partitions: " + target.group(1) + " is named twice; give it one number.");
            }
        }
        if (!partitions.isEmpty() && mode != Mode.BY_KEY) {
            throw new Refused("partitions is set, and mode is " + mode.written + ": only mode=by-key takes the partition"
                + " of a key. Remove that line.");
        }
        return new GrownTargets(Map.copyOf(partitions));
    }

    /** Why no record may be copied by the present number of the target; empty if it may. */
    List<String> refusals(TopicFacts target, OffsetFacts offsets, String source, Mode mode) {
        Integer wanted = partitions.get(target.name);
        if (wanted != null) {
            return wanted == target.partitions ? List.of() : List.of(target.name + " has " + target.partitions
                + " partitions, and the setting partitions names " + wanted + ". Correct it, or remove that line.");
        }
        return offsets.last.entrySet().stream().filter(last -> last.getKey().topic().equals(source))
            .map(Map.Entry::getValue)
            .filter(last -> mode == Mode.BY_KEY && last.partitions != target.partitions
                || last.mode.isPresent() && last.mode.get() != mode)
            .map(last -> target.name + " had " + last.partitions + " partitions when a record of " + source
                + " was last copied" + last.mode.map(before -> ", in mode " + before.written).orElse("") + ", and has "
                + target.partitions + " in mode " + mode.written + ": keys would go on in other partitions. Stop the"
                + " readers of " + target.name + " that keep something by key, and look at docs/partition_increase.md."
                + (mode == Mode.BY_KEY ? " Then set partitions=" + target.name + ":" + target.partitions + "."
                    : " Then commit the same offsets again (kstreams-runbooks copier seed COPIER --at " + source
                        + ":PARTITION:OFFSET --replace " + source + " --may-repeat " + target.name + " --execute)."))
            .findFirst().map(List::of).orElse(List.of());
    }
}
