package changes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What a team would declare of a program: stores, suppressions and topics, by the names of the description. */
final class Declared {
    private Declared() {}

    static Map<String, Object> of(Built built) {
        Map<String, Object> stores = new TreeMap<>();
        Map<String, Object> suppressions = new TreeMap<>();
        for (String name : built.stores.keySet()) {
            Step step = built.owner(name);
            if (step.kind == Step.Kind.SUPPRESS) {
                boolean closes = built.program.windowed(step);
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("mode", closes ? "until_window_closes" : "until_time_limit");
                one.put("time_limit_ms", closes ? null : step.minutes * 60_000L);
                suppressions.put(built.keepers(name).get(0).name(), one);
            } else {
                stores.put(name, store(built, name, step));
            }
        }
        for (String name : built.globalStores) {
            stores.put(name, store(built, name, built.owner(name)));
        }
        Map<String, Object> made = new LinkedHashMap<>();
        made.put("stores", stores);
        made.put("suppressions", suppressions);
        made.put("topics", topics(built));
        return made;
    }

    private static Map<String, Object> store(Built built, String name, Step step) {
        Content content = Content.ofStore(built, name);
        boolean shared = content.role().equals("shared");
        boolean join = step.kind == Step.Kind.JOIN_STREAMS && !shared;
        boolean counts = step.kind.aggregates() && step.function == Step.Function.COUNT;
        Map<String, Object> one = new LinkedHashMap<>();
        String window = "";
        if (join) {
            window = "join";
        } else if (step.window == Step.Window.SESSION) {
            window = "session";
        } else if (step.window == Step.Window.TIME) {
            window = "tumbling";
        }
        one.put("kind", window.isEmpty() ? "key_value" : window.equals("tumbling") ? "window" : window);
        one.put("window", window.isEmpty() ? null : window);
        one.put("size_ms", window.isEmpty() ? null : step.minutes * 60_000L);
        one.put("key", words(content.keys()));
        one.put("value_serde", counts ? "long" : "string");
        one.put("source_table", step.kind == Step.Kind.TABLE || step.kind == Step.Kind.GLOBAL);
        one.put("read_from", step.kind == Step.Kind.TABLE ? step.topic : null);
        one.put("aggregate", aggregate(step));
        one.put("join", joinsTables(step) ? step.join.name().toLowerCase() : null);
        return one;
    }

    /** The operator of the program: every count is the same, of the others each has a function of its own. */
    private static String aggregate(Step step) {
        if (!step.kind.aggregates()) {
            return "none";
        }
        String function = step.function.name().toLowerCase();
        return step.function == Step.Function.COUNT ? function : function + " of #" + step.id;
    }

    private static boolean joinsTables(Step step) {
        return step.kind == Step.Kind.JOIN_TABLES || step.kind == Step.Kind.JOIN_FOREIGN_KEY;
    }

    private static Map<String, Object> topics(Built built) {
        Map<String, Object> made = new TreeMap<>();
        for (Step step : built.program.steps) {
            if (step.topic != null) {
                Map<String, Object> one = new LinkedHashMap<>();
                Set<String> others = new TreeSet<>();
                built.joined.stream().filter(group -> group.contains(step.topic)).forEach(others::addAll);
                others.remove(step.topic);
                one.put("partitions", built.program.partitions.get(step.topic));
                one.put("key", words(step.kind == Step.Kind.THROUGH
                        ? built.program.input(step, 0)
                        : built.program.keys(step)));
                one.put("joined_with", step.kind == Step.Kind.SINK ? List.of() : others);
                made.put(step.topic, one);
            }
        }
        for (String topic : built.internal) {
            if (!made.containsKey(topic)) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("partitions", null); // only where the program gives a number
                one.put("key", null);
                one.put("joined_with", List.of());
                made.put(topic, one);
            }
        }
        return made;
    }

    private static String words(Map<Integer, Set<String>> keys) {
        Set<String> all = new TreeSet<>();
        keys.values().forEach(all::addAll);
        return String.join(" or ", all);
    }
}
