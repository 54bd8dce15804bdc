package changes;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a change does: from the identity of each operator, and from the names and places that the library gives it. It
 * uses no rule of the planner.
 *
 * Class {@code roll}: every member agrees on topics and tasks, and no store comes. {@code stop}: members do not, or
 * local state has to be restored, and everything is kept. {@code state}: records or stored data are lost or mixed up. The needs name what a runbook has to
 * take care of: migrate (a store has another name), buffer (that of a suppression has), flush (records on their way),
 * suppress (records held back), reset (wrong data under a right name, too many partitions), increase (an internal topic
 * has too few partitions), refuse (the new program does not start).
 */
final class Truth {
    private final Built before;
    private final Built after;
    final Set<String> needs = new TreeSet<>();
    final Map<String, String> facts = new TreeMap<>();
    final List<String> kept = new ArrayList<>();
    final Map<String, String> warnings = new TreeMap<>();

    Truth(Built before, Built after) {
        this.before = before;
        this.after = after;
        stores();
        topics();
        suppressions();
        partitions();
        replaced();
        globalStores();
        shape();
    }

    String name() {
        if (!needs.isEmpty()) {
            return "state";
        }
        return facts.isEmpty() ? "roll" : "stop";
    }

    Map<String, Object> document() {
        Map<String, Object> made = new LinkedHashMap<>();
        made.put("answer", name());
        made.put("needs", needs);
        made.put("facts", facts);
        made.put("kept", kept);
        made.put("warnings", warnings);
        return made;
    }

    /** Files in the directory of global stores that belong to no store of that name and topic; it is opened for others. */
    private void globalStores() {
        for (String name : after.globalStores.isEmpty() ? Set.<String>of() : before.globalStores) {
            boolean same = after.globalStores.contains(name)
                    && Objects.equals(before.owner(name).topic, after.owner(name).topic);
            if (!same) {
                facts.put("global store " + name, "is left behind in its directory");
            }
        }
    }

    private void need(String what, String of, String why) {
        needs.add(what);
        facts.put(of, why);
    }

    private void stores() {
        for (String name : after.stores.keySet()) {
            Content now = Content.ofStore(after, name);
            if (before.stores.containsKey(name)) {
                Content was = Content.ofStore(before, name);
                boolean same = isContinued(was.step(), now.step()) || areTwins(was.step(), now.step())
                        || isOtherCondition(was.step(), now.step())
                        || (now.isOf(was) && isMadeOfNewTopics(was, now));
                String other = same ? "" : now.differsFrom(was);
                if (other.isEmpty()) {
                    kept.add(name);
                    if (hasSegments(now) && now.step().minutes != was.step().minutes) {
                        // Half of the retention, which follows the window, is the length of a piece on the disk.
                        facts.put("store " + name, "is in pieces of another length");
                    }
                    if (now.step().kind == Step.Kind.AGGREGATE && now.step().minutes != was.step().minutes
                            && now.step().window != Step.Window.NONE) {
                        warnings.put(name, "its windows mix two sizes");
                    }
                } else if (was.step().kind == Step.Kind.SUPPRESS && now.step().kind == Step.Kind.SUPPRESS
                        && waitAlike(was.step(), now.step()) && takesItsInput(was.step(), now.step())) {
                    need("suppress", "store " + name, "does not hold results back for all that followed it");
                } else {
                    need("reset", "store " + name, "holds what is not its own: " + other);
                }
                continue;
            }
            for (String old : before.stores.keySet()) {
                Content was = Content.ofStore(before, old);
                boolean same = now.isOf(was) && now.differsFrom(was).isEmpty();
                if (now.isOf(was) && now.step().kind == Step.Kind.SUPPRESS) {
                    if (after.stores.containsKey(old) && isContinued(was.step(), after.owner(old))) {
                        continue;
                    }
                    // Results that were held back are due whatever follows them.
                    need("buffer", "store " + name, "begins empty; it was " + old);
                } else if (after.stores.containsKey(old) && isOtherCondition(was.step(), after.owner(old))) {
                    continue;
                } else if (same && !now.sources().stream().allMatch(this::isReplaced)) {
                    need("migrate", "store " + name, "begins empty; it was " + old);
                }
            }
        }
    }

    private static boolean hasSegments(Content content) {
        Step step = content.step();
        boolean windows = step.kind == Step.Kind.AGGREGATE && step.window != Step.Window.NONE;
        return windows || (step.kind == Step.Kind.JOIN_STREAMS && !content.role().equals("shared"));
    }

    /**
     * Whether one suppression takes over what another held back: both have the same settings, and one follows the other
     * with nothing but suppressions between, before or after the change. The program would be the same with the two
     * exchanged, and what the first lets out passes the second. One that is put in the place of another continues it too.
     */
    private boolean isContinued(Step was, Step now) {
        return was.kind == Step.Kind.SUPPRESS && now.kind == Step.Kind.SUPPRESS && waitAlike(was, now)
                && (areInOneRow(was, now) || takesItsPlace(was, now));
    }

    /** The end of a window decides when its results are due, and minutes elsewhere. */
    private boolean waitAlike(Step was, Step now) {
        boolean windowed = before.program.windowed(was);
        return windowed == after.program.windowed(now) && (windowed || was.minutes == now.minutes);
    }

    /** Whether nothing but repartitions is between two of them: the records in the topic of either are the same. */
    private boolean isPassedOn(Step was, Step now) {
        return was.kind == Step.Kind.REPARTITION && now.kind == Step.Kind.REPARTITION
                && (areInOneRow(was, now) || takesItsInput(was, now));
    }

    private boolean areInOneRow(Step was, Step now) {
        return inOneRow(before.program, was.id, now.id) || inOneRow(after.program, was.id, now.id);
    }

    private boolean takesItsPlace(Step was, Step now) {
        return takesItsInput(was, now)
                && consumers(before.program, was.id).equals(consumers(after.program, now.id));
    }

    /** Whether the new step has the input of the old one, which is gone. */
    private boolean takesItsInput(Step was, Step now) {
        return after.program.step(was.id) == null && before.program.step(now.id) == null
                && was.inputs.equals(now.inputs);
    }

    private static List<Integer> consumers(Program program, int id) {
        return program.consumers(id).stream().map(step -> step.id).toList();
    }

    /** Two filters of a table in one row: with their stores exchanged, the program is that with other conditions. */
    private boolean isOtherCondition(Step was, Step now) {
        return was.kind == Step.Kind.TABLE_FILTER && now.kind == Step.Kind.TABLE_FILTER && areInOneRow(was, now);
    }

    /** Whether two steps make the same of the same inputs, in both programs: it does not matter which one kept what. */
    private boolean areTwins(Step was, Step now) {
        Step then = before.program.step(now.id);
        Step still = after.program.step(was.id);
        return was.id != now.id && then != null && still != null && areAlike(was, then) && areAlike(still, now);
    }

    private static boolean areAlike(Step one, Step other) {
        return one.kind == other.kind && one.inputs.equals(other.inputs) && one.function == other.function
                && one.window == other.window && one.minutes == other.minutes && Objects.equals(one.key, other.key)
                && one.kind != Step.Kind.TABLE_MAP_VALUES && one.kind != Step.Kind.TABLE_FILTER;
    }

    private static boolean inOneRow(Program program, int one, int other) {
        return rowBefore(program, one).contains(other) || rowBefore(program, other).contains(one);
    }

    /** The steps of its kind right before a step, up to anything else. */
    private static Set<Integer> rowBefore(Program program, int id) {
        Set<Integer> found = new TreeSet<>();
        Step own = program.step(id);
        for (Step step = own; step != null && step.kind == own.kind; ) {
            step = program.step(step.inputs.get(0));
            found.add(step.id);
        }
        return found;
    }

    private void topics() {
        for (String topic : before.internal) {
            boolean read = after.reads.values().stream().anyMatch(topics -> topics.contains(topic));
            if (!read && isWanted(before.served(topic))) {
                need("flush", "topic " + topic, "is no longer read");
            } else if (read && after.internal.contains(topic)) {
                Content now = Content.ofTopic(after, topic);
                Content was = Content.ofTopic(before, topic);
                String other = now.differsFrom(was);
                if (!other.isEmpty() && !isPassedOn(was.step(), now.step())) {
                    need("flush", "topic " + topic, "has records that are not its own: " + other);
                }
            }
        }
    }

    /** Whether any of these steps keeps or writes something, and is still there. */
    private boolean isWanted(Set<Integer> steps) {
        return steps.stream().anyMatch(id -> {
            Step now = after.program.step(id);
            return now != null && (now.kind == Step.Kind.SINK || now.kind == Step.Kind.THROUGH || keeps(id));
        });
    }

    private boolean keeps(int id) {
        return after.stores.keySet().stream().anyMatch(store -> after.owner(store).id == id);
    }

    private void suppressions() {
        for (Step step : before.program.steps) {
            if (step.kind == Step.Kind.SUPPRESS && after.program.step(step.id) == null && !isReplacedAlike(step)) {
                Set<Integer> behind = new HashSet<>(before.program.downstream(step.id));
                behind.remove(step.id);
                if (isWanted(behind)) {
                    need("suppress", step.toString(), "is gone with what it held back");
                }
            }
        }
    }

    /** Whether another suppression with the same settings is in its place: its buffer may go on under the new name. */
    private boolean isReplacedAlike(Step gone) {
        return after.program.steps.stream().anyMatch(step -> step.kind == Step.Kind.SUPPRESS
                && before.program.step(step.id) == null && step.minutes == gone.minutes
                && step.inputs.equals(gone.inputs));
    }

    private void partitions() {
        if (!after.refused.isEmpty()) {
            need("refuse", "application", "does not start: " + after.refused);
        }
        for (String topic : before.internal) {
            Integer now = after.internal.contains(topic) ? after.partitions.get(topic) : null;
            if (now != null && !now.equals(before.partitions.get(topic))) {
                counted("topic " + topic, before.partitions.get(topic), now);
            }
        }
        after.stores.forEach((store, sub) -> {
            Integer old = before.stores.containsKey(store) ? before.tasks.get(before.stores.get(store)) : null;
            if (old != null && !old.equals(after.tasks.get(sub))) {
                counted("store " + store, old, after.tasks.get(sub));
            }
        });
        uneven(after).forEach((store, why) -> {
            if (!uneven(before).containsKey(store)) {
                need("reset", "store " + store, "one key is in two partitions: " + why);
            }
        });
    }

    /** The state stays that of the topic before: right if one continues the other, which a person has to know. */
    private void replaced() {
        for (Step step : before.program.steps) {
            if (step.kind.isSource() && step.kind != Step.Kind.GLOBAL && isReplaced(step.id)
                    && before.program.downstream(step.id).stream().anyMatch(this::keeps)) {
                warnings.put(step.topic, "is replaced, and what is made of it stays or begins anew");
            }
        }
    }

    private boolean isReplaced(int source) {
        Step was = before.program.step(source);
        Step now = after.program.step(source);
        return was != null && now != null && !was.topic.equals(now.topic);
    }

    /** Whether it is made of new topics alone, and those before are no longer read: they may continue these. */
    private boolean isMadeOfNewTopics(Content was, Content now) {
        return !now.sources().isEmpty() && was.kind().equals(now.kind())
                && now.sources().stream().noneMatch(id -> isRead(before, after.program.step(id).topic))
                && was.sources().stream().noneMatch(id -> isRead(after, before.program.step(id).topic));
    }

    private static boolean isRead(Built built, String topic) {
        return built.reads.values().stream().anyMatch(topics -> topics.contains(topic));
    }

    private void counted(String of, int old, int now) {
        need(now > old ? "increase" : "reset", of, "has " + old + " partitions, needs " + now);
    }

    /** Stores that are filled from topics with different numbers of partitions, with no repartition between. */
    static Map<String, String> uneven(Built built) {
        Map<String, String> found = new TreeMap<>();
        for (String store : built.stores.keySet()) {
            Map<String, Integer> counts = new TreeMap<>();
            built.filling(store).stream()
                    .filter(topic -> built.partitions.containsKey(topic))
                    .filter(topic -> built.reads.values().stream().anyMatch(read -> read.contains(topic)))
                    .forEach(topic -> counts.put(topic, built.partitions.get(topic)));
            if (new HashSet<>(counts.values()).size() > 1) {
                found.put(store, counts.toString());
            }
        }
        return found;
    }

    /** A store that only goes needs no stop: no member waits for its topic. */
    private void shape() {
        Map<Integer, Set<String>> was = stores(before);
        Map<Integer, Set<String>> now = stores(after);
        Set<Integer> numbers = new TreeSet<>(before.reads.keySet());
        numbers.addAll(after.reads.keySet());
        for (int number : numbers) {
            Set<String> old = was.getOrDefault(number, Set.of());
            Set<String> come = now.getOrDefault(number, Set.of());
            if (!read(before, number).equals(read(after, number)) || !old.containsAll(come)) {
                facts.put("subtopology " + number,
                        read(before, number) + " with " + old + " -> " + read(after, number) + " with " + come);
            }
        }
    }

    private static Set<String> read(Built built, int number) {
        return new TreeSet<>(built.reads.getOrDefault(number, Set.of()));
    }

    private static Map<Integer, Set<String>> stores(Built built) {
        Map<Integer, Set<String>> made = new TreeMap<>();
        built.stores.forEach((store, number) -> made.computeIfAbsent(number, any -> new TreeSet<>()).add(store));
        return made;
    }
}
