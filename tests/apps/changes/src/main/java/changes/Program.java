package changes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Operators in the order of their calls, and the topics with their partitions and keys. */
final class Program {
    final List<Step> steps = new ArrayList<>();
    final Map<String, Integer> partitions = new TreeMap<>();
    final Map<String, String> topicKeys = new HashMap<>();
    int next = 1;

    Program copy() {
        Program made = new Program();
        steps.forEach(step -> made.steps.add(step.copy()));
        made.partitions.putAll(partitions);
        made.topicKeys.putAll(topicKeys);
        made.next = next;
        return made;
    }

    Step step(int id) {
        return steps.stream().filter(one -> one.id == id).findFirst().orElse(null);
    }

    List<Step> consumers(int id) {
        return steps.stream().filter(one -> one.inputs.contains(id)).toList();
    }

    /** The step and everything behind it. */
    Set<Integer> downstream(int id) {
        Set<Integer> found = new LinkedHashSet<>(Set.of(id));
        for (Step step : steps) {
            if (step.inputs.stream().anyMatch(found::contains)) {
                found.add(step.id);
            }
        }
        return found;
    }

    /** Puts a step between its inputs and its consumers; `at` is how late, from 0 to 1. */
    void insert(Step step, double at) {
        int from = 0;
        int to = steps.size();
        for (int place = 0; place < steps.size(); place++) {
            Step one = steps.get(place);
            if (step.inputs.contains(one.id)) {
                from = place + 1;
            } else if (one.inputs.contains(step.id)) {
                to = Math.min(to, place);
            }
        }
        steps.add(from + (int) Math.round(at * (to - from)), step);
    }

    /** Takes out steps, then sources that no other step reads any more. */
    void remove(Set<Integer> gone) {
        steps.removeIf(step -> gone.contains(step.id));
        steps.removeIf(step -> step.kind.isSource() && step.kind != Step.Kind.GLOBAL && consumers(step.id).isEmpty());
    }

    /** The sources that a step gets records from. */
    Set<Integer> sources(Step step) {
        return steps.stream()
                .filter(one -> one.kind.isSource() && downstream(one.id).contains(step.id))
                .map(one -> one.id)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    boolean windowed(Step step) {
        return switch (step.kind) {
            case AGGREGATE -> step.window != Step.Window.NONE;
            case TABLE_FILTER, TABLE_MAP_VALUES, SUPPRESS -> windowed(step(step.inputs.get(0)));
            default -> false;
        };
    }

    /** What records are keyed by behind a step, in words, by the source that they come from. */
    Map<Integer, Set<String>> keys(Step step) {
        return switch (step.kind) {
            case STREAM, TABLE, GLOBAL -> one(step.id, topicKeys.get(step.topic));
            case SELECT_KEY, TABLE_AGGREGATE -> rekeyed(input(step, 0), step.key);
            case AGGREGATE -> step.key == null ? input(step, 0) : rekeyed(input(step, 0), step.key);
            case TO_STREAM -> windowed(step(step.inputs.get(0))) ? inWindows(input(step, 0)) : input(step, 0);
            case MERGE, JOIN_STREAMS, JOIN_TABLES -> both(input(step, 0), input(step, 1));
            default -> input(step, 0);
        };
    }

    Map<Integer, Set<String>> input(Step step, int which) {
        return keys(step(step.inputs.get(which)));
    }

    static Map<Integer, Set<String>> both(Map<Integer, Set<String>> one, Map<Integer, Set<String>> other) {
        Map<Integer, Set<String>> made = new TreeMap<>();
        for (Map<Integer, Set<String>> each : List.of(one, other)) {
            each.forEach((source, words) -> made.computeIfAbsent(source, any -> new TreeSet<>()).addAll(words));
        }
        return made;
    }

    private static Map<Integer, Set<String>> one(int source, String word) {
        return new TreeMap<>(Map.of(source, Set.of(word)));
    }

    private static Map<Integer, Set<String>> rekeyed(Map<Integer, Set<String>> before, String word) {
        Map<Integer, Set<String>> made = new TreeMap<>();
        before.keySet().forEach(source -> made.put(source, Set.of(word)));
        return made;
    }

    private static Map<Integer, Set<String>> inWindows(Map<Integer, Set<String>> before) {
        Map<Integer, Set<String>> made = new TreeMap<>();
        before.forEach((source, words) -> {
            Set<String> windows = new TreeSet<>();
            words.forEach(word -> windows.add(word + " and window"));
            made.put(source, windows);
        });
        return made;
    }
}
