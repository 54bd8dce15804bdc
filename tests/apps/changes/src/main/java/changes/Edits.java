package changes;

import changes.Step.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/** Edits of a program, as people make them. Each returns what it was done to, null if there is no place for it. */
final class Edits {
    private final Program program;
    private final Random random;
    private final Draw draw;

    Edits(Program program, Random random) {
        this.program = program;
        this.random = random;
        this.draw = new Draw(random, program);
    }

    /** All edits by name. */
    static TreeMap<String, Function<Edits, String>> all() {
        TreeMap<String, Function<Edits, String>> made = new TreeMap<>();
        made.put("stateless operator inserted", edits -> edits.inserted(Kind.FILTER, Kind.MAP_VALUES, Kind.PEEK));
        made.put("table operator inserted", edits -> edits.inserted(Kind.TABLE_FILTER, Kind.TABLE_MAP_VALUES));
        made.put("stateless operator removed", edits -> edits.bypassed(step -> step.kind.isStateless()));
        made.put("new key inserted", edits -> edits.inserted(Kind.SELECT_KEY));
        made.put("new key removed", edits -> edits.bypassed(step -> step.kind == Kind.SELECT_KEY));
        made.put("key changed", Edits::keyChanged);
        made.put("repartition inserted", edits -> edits.inserted(Kind.REPARTITION));
        made.put("repartition removed", edits -> edits.bypassed(step -> step.kind == Kind.REPARTITION));
        made.put("topic in between inserted", edits -> edits.inserted(Kind.THROUGH));
        made.put("topic in between removed", edits -> edits.bypassed(step -> step.kind == Kind.THROUGH));
        made.put("suppress inserted", edits -> edits.inserted(Kind.SUPPRESS));
        made.put("suppress removed", edits -> edits.bypassed(step -> step.kind == Kind.SUPPRESS));
        made.put("suppress renamed", edits -> edits.changed(step -> step.kind == Kind.SUPPRESS, Edits::rename));
        made.put("store renamed", edits -> edits.changed(step -> step.store != null,
                (self, step) -> step.store = self.draw.fresh("kept", step.id)));
        made.put("store named", edits -> edits.changed(step -> step.store == null && Draw.mayKeep(step.kind),
                (self, step) -> step.store = self.draw.fresh("kept", step.id)));
        made.put("store no longer named", edits -> edits.changed(step -> step.store != null,
                (self, step) -> step.store = null));
        made.put("grouping renamed", edits -> edits.changed(step -> step.kind.aggregates(),
                (self, step) -> step.grouped = self.draw.fresh("by", step.id)));
        made.put("operator renamed", edits -> edits.changed(step -> step.kind != Kind.SUPPRESS, Edits::rename));
        made.put("names of stores exchanged", Edits::namesExchanged);
        made.put("order of calls changed", Edits::reordered);
        made.put("function changed", edits -> edits.changed(step -> step.kind.aggregates(), (self, step) ->
                step.function = Step.Function.values()[(step.function.ordinal() + 1 + self.random.nextInt(2)) % 3]));
        made.put("kind of window changed", edits -> edits.changed(edits::endsInStream, (self, step) ->
                step.window = Step.Window.values()[(step.window.ordinal() + 1 + self.random.nextInt(2)) % 3]));
        made.put("window resized", edits -> edits.changed(
                step -> step.kind == Kind.JOIN_STREAMS || step.window != Step.Window.NONE,
                (self, step) -> step.minutes *= 2));
        made.put("kind of join changed", edits -> edits.changed(step -> step.kind.isJoin(),
                (self, step) -> step.join = step.join == Step.Join.INNER ? Step.Join.LEFT : Step.Join.INNER));
        made.put("sides of a join swapped", edits -> edits.changed(
                step -> step.kind.isJoin() && step.kind != Kind.JOIN_TABLE, (self, step) -> {
                    step.inputs = new ArrayList<>(List.of(step.inputs.get(1), step.inputs.get(0)));
                    step.swapped = !step.swapped;
                }));
        made.put("stream read as a table", Edits::readAsTable);
        made.put("source merged in", edits -> edits.joinedIn(Kind.MERGE, Kind.STREAM));
        made.put("merge or join removed", edits -> edits.bypassed(
                step -> step.kind == Kind.MERGE || step.kind == Kind.JOIN_TABLE || step.kind == Kind.JOIN_GLOBAL));
        made.put("table joined in", edits -> edits.joinedIn(Kind.JOIN_TABLE, Kind.TABLE));
        made.put("global table joined in", edits -> edits.joinedIn(Kind.JOIN_GLOBAL, Kind.GLOBAL));
        made.put("source added", edits -> edits.sourceAdded(edits.draw.streamOrTable()));
        made.put("global table added", edits -> edits.sourceAdded(Kind.GLOBAL));
        made.put("global table removed", edits -> edits.removed(step -> step.kind == Kind.GLOBAL));
        made.put("branch added", Edits::branchAdded);
        made.put("branch removed", edits -> edits.removed(step -> !step.kind.isSource() && step.kind != Kind.SINK));
        made.put("source removed", edits -> edits.removed(step -> step.kind.isSource()));
        made.put("input topic replaced", edits -> edits.changed(step -> step.kind.isSource(),
                Edits::replaceTopic));
        made.put("output topic replaced", edits -> edits.changed(step -> step.kind == Kind.SINK,
                (self, step) -> step.topic = self.draw.fresh("out", step.id)));
        made.put("operator moved to another stream", Edits::moved);
        return made;
    }

    private interface Change {
        void make(Edits self, Step step);
    }

    private Step any(Predicate<Step> which) {
        List<Step> found = program.steps.stream().filter(which).toList();
        return found.isEmpty() ? null : draw.one(found);
    }

    private String changed(Predicate<Step> which, Change change) {
        Step step = any(which);
        if (step == null) {
            return null;
        }
        change.make(this, step);
        return step.toString();
    }

    private static void rename(Edits self, Step step) {
        step.name = self.draw.fresh("op", step.id);
    }

    /** Another topic with the same key; its partitions may be others. */
    private static void replaceTopic(Edits self, Step step) {
        String key = self.program.topicKeys.get(step.topic);
        step.topic = self.draw.topic("in");
        self.program.topicKeys.put(step.topic, key);
    }

    /** Where results of windows may become others: only what takes both is behind them. */
    private boolean endsInStream(Step step) {
        return step.kind == Kind.AGGREGATE
                && program.consumers(step.id).stream().allMatch(one -> one.kind == Kind.TO_STREAM);
    }

    /** Puts a new step between one step and one, or all, of those that take what it gives. */
    private String inserted(Kind... kinds) {
        Kind kind = draw.one(List.of(kinds));
        Step before = any(one -> one.kind.gives() == kind.takes().charAt(0) && draw.suits(kind, one)
                && !program.consumers(one.id).isEmpty());
        return before == null ? null : between(draw.step(kind, List.of(before.id)), before);
    }

    private String between(Step step, Step before) {
        List<Step> behind = program.consumers(before.id);
        List<Step> chosen = random.nextBoolean() ? behind : List.of(draw.one(behind));
        for (Step one : chosen) {
            one.inputs.replaceAll(input -> input == before.id ? step.id : input);
        }
        program.insert(step, random.nextDouble());
        return step + " behind " + before;
    }

    /** Takes a step out; what was behind it takes its first input. */
    private String bypassed(Predicate<Step> which) {
        Step step = any(which);
        if (step == null) {
            return null;
        }
        int left = step.kind == Kind.MERGE && random.nextBoolean() ? 1 : 0;
        for (Step one : program.consumers(step.id)) {
            one.inputs.replaceAll(input -> input == step.id ? step.inputs.get(left) : input);
        }
        program.remove(Set.of(step.id));
        return step.toString();
    }

    private String removed(Predicate<Step> which) {
        Step step = any(which);
        if (step == null || program.downstream(step.id).size() > program.steps.size() - 2) {
            return null;
        }
        program.remove(program.downstream(step.id));
        return step.toString();
    }

    private String keyChanged() {
        return changed(step -> step.key != null, (self, step) -> {
            String old = step.key;
            while (old.equals(step.key)) {
                step.key = self.draw.key();
            }
        });
    }

    private String namesExchanged() {
        Step one = any(step -> step.store != null);
        Step other = any(step -> step.store != null && one != null && step.id != one.id && step.kind == one.kind);
        if (other == null) {
            return null;
        }
        String name = one.store;
        one.store = other.store;
        other.store = name;
        return one + " and " + other;
    }

    private String reordered() {
        Step first = any(step -> true);
        if (first == null) {
            return null;
        }
        Set<Integer> late = program.downstream(first.id);
        List<Step> moved = program.steps.stream().filter(step -> late.contains(step.id)).toList();
        List<Step> before = List.copyOf(program.steps);
        program.steps.removeAll(moved);
        program.steps.addAll(moved);
        return before.equals(program.steps) ? null : first + " and what is behind it, last";
    }

    /** A stream that is grouped by a key becomes a table that is; all names stay. */
    private String readAsTable() {
        Step group = any(step -> step.kind == Kind.AGGREGATE && step.key != null && step.window == Step.Window.NONE
                && program.step(step.inputs.get(0)).kind == Kind.STREAM
                && program.consumers(step.inputs.get(0)).size() == 1);
        if (group == null) {
            return null;
        }
        Step source = program.step(group.inputs.get(0));
        source.kind = Kind.TABLE;
        group.kind = Kind.TABLE_AGGREGATE;
        return source + " and " + group;
    }

    /** Merges or joins a stream with another step, an existing one or a new source. */
    private String joinedIn(Kind kind, Kind wanted) {
        Step stream = any(step -> step.kind.gives() == 's' && !program.consumers(step.id).isEmpty());
        if (stream == null) {
            return null;
        }
        Set<Integer> behind = program.downstream(stream.id);
        Step there = any(step -> step.kind.gives() == kind.takes().charAt(1) && !behind.contains(step.id)
                && draw.suits(kind, step) && program.steps.indexOf(step) < program.steps.indexOf(stream));
        if (there == null || random.nextBoolean()) {
            there = draw.source(wanted);
            program.steps.add(random.nextInt(program.steps.indexOf(stream) + 1), there);
        }
        return between(draw.step(kind, List.of(stream.id, there.id)), stream);
    }

    private String sourceAdded(Kind kind) {
        Step source = draw.source(kind);
        program.steps.add(random.nextInt(program.steps.size() + 1), source);
        for (Step step : draw.ending(source)) {
            program.insert(step, random.nextDouble());
        }
        return source.toString();
    }

    private String branchAdded() {
        Step before = any(step -> step.kind.gives() == 's');
        if (before == null) {
            return null;
        }
        Step step = draw.step(Kind.AGGREGATE, List.of(before.id));
        program.insert(step, random.nextDouble());
        for (Step one : draw.ending(step)) {
            program.insert(one, random.nextDouble());
        }
        return step + " behind " + before;
    }

    /** A step takes another stream or table than it took. */
    private String moved() {
        Step step = any(one -> one.kind.takes().length() == 1);
        if (step == null) {
            return null;
        }
        int place = program.steps.indexOf(step);
        Step other = any(one -> one.kind.gives() == step.kind.takes().charAt(0) && draw.suits(step.kind, one)
                && program.windowed(one) == program.windowed(program.step(step.inputs.get(0)))
                && program.steps.indexOf(one) < place && !step.inputs.contains(one.id));
        if (other == null) {
            return null;
        }
        step.inputs = new ArrayList<>(List.of(other.id));
        program.remove(new HashSet<>());
        return step + " to " + other;
    }
}
