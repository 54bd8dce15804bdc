package changes;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What a store or an internal topic holds: its step and side, its kind, its keys by source, and its sources. */
record Content(Step step, String role, String kind, Map<Integer, Set<String>> keys, Set<Integer> sources) {

    static Content ofStore(Built built, String store) {
        Program program = built.program;
        Step step = built.owner(store);
        String role = role(step, store);
        Map<Integer, Set<String>> keys = switch (step.kind) {
            case JOIN_STREAMS -> switch (role.equals("shared") ? role : side(store)) {
                case "this" -> program.input(step, 0);
                case "other" -> program.input(step, 1);
                default -> program.keys(step);
            };
            case JOIN_FOREIGN_KEY -> role.equals("subscription")
                    ? Program.both(program.input(step, 0), program.input(step, 1))
                    : program.keys(step);
            default -> program.keys(step);
        };
        Set<Integer> sources = switch (role) {
            case "one side", "the other side" ->
                program.sources(program.step(step.inputs.get(side(store).equals("this") ? 0 : 1)));
            default -> program.sources(step);
        };
        return new Content(step, role, kind(program, step, role), keys, sources);
    }

    static Content ofTopic(Built built, String topic) {
        Step step = built.ownerOfTopic(topic);
        String role = "";
        String kind = "records";
        if (step.kind == Step.Kind.JOIN_STREAMS || step.kind == Step.Kind.JOIN_TABLE) {
            role = topic.endsWith("-left-repartition") == step.swapped ? "one" : "other";
        } else if (step.kind == Step.Kind.JOIN_FOREIGN_KEY) {
            role = topic.toLowerCase().contains("registration") ? "registration" : "response";
            kind = "records" + (step.swapped ? ", sides swapped" : "");
        } else if (step.kind == Step.Kind.TABLE_AGGREGATE) {
            kind = "changes";
        }
        return new Content(step, role, kind, new TreeMap<>(), Set.of());
    }

    private static String side(String store) {
        return store.contains("THIS") || store.contains("-this-") ? "this" : "other";
    }

    private static String role(Step step, String name) {
        if (step.kind == Step.Kind.JOIN_STREAMS) {
            if (name.contains("SHARED") || name.contains("-shared-")) {
                return "shared";
            }
            return side(name).equals("this") == step.swapped ? "one side" : "the other side";
        }
        // The output has a generated store if a suppression behind it needs one.
        boolean subscribes = step.kind == Step.Kind.JOIN_FOREIGN_KEY && !name.equals(step.store)
                && name.toLowerCase().contains("subscription");
        return subscribes ? "subscription" : "";
    }

    private static String kind(Program program, Step step, String role) {
        return switch (step.kind) {
            case JOIN_STREAMS -> role.equals("shared") && step.swapped ? "sides swapped" : "records of a join";
            case JOIN_FOREIGN_KEY -> step.swapped ? "foreign key, sides swapped" : "foreign key";
            case AGGREGATE -> "stream, " + step.function + ", " + step.window;
            case TABLE_AGGREGATE -> "table, " + step.function;
            case SUPPRESS -> program.windowed(step) ? "buffer of windows" : "buffer";
            default -> "table" + (program.windowed(step) ? " of windows" : "");
        };
    }

    /** A join of a stream or a table with itself has the same records on both sides. */
    boolean isOf(Content other) {
        return step.id == other.step.id
                && (role.equals(other.role) || joinsWithItself(step) || joinsWithItself(other.step));
    }

    private static boolean joinsWithItself(Step step) {
        return (step.kind == Step.Kind.JOIN_STREAMS || step.kind == Step.Kind.JOIN_FOREIGN_KEY)
                && step.inputs.get(0).equals(step.inputs.get(1));
    }

    /** Why the old content is not what the new program would have there; empty where it is. */
    String differsFrom(Content before) {
        if (!isOf(before)) {
            return "that of " + before.step + " " + before.role;
        }
        if (!kind.equals(before.kind) && !joinsWithItself(step) && !joinsWithItself(before.step)) {
            return before.kind + " in place of " + kind;
        }
        for (Map.Entry<Integer, Set<String>> source : keys.entrySet()) {
            Set<String> old = before.keys.getOrDefault(source.getKey(), source.getValue());
            if (!old.containsAll(source.getValue()) && !source.getValue().containsAll(old)) {
                return "keyed by " + old + " in place of " + source.getValue();
            }
        }
        Set<Integer> shared = new HashSet<>(sources);
        shared.retainAll(before.sources);
        if (shared.isEmpty() && !sources.isEmpty()) {
            return "made of sources " + before.sources + " in place of " + sources;
        }
        return "";
    }
}
