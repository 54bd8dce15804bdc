package changes;

import changes.Step.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A random program: some sources, some operators on them, a sink behind what is left over. */
final class Draw {
    static final String[] KEYS = {"user", "item", "country", "device"};
    private static final Kind[] OPERATORS = {
        Kind.FILTER, Kind.MAP_VALUES, Kind.PEEK, Kind.SELECT_KEY, Kind.SELECT_KEY, Kind.MERGE, Kind.REPARTITION,
        Kind.THROUGH, Kind.JOIN_STREAMS, Kind.JOIN_STREAMS, Kind.JOIN_TABLE, Kind.JOIN_TABLE, Kind.JOIN_GLOBAL,
        Kind.AGGREGATE, Kind.AGGREGATE, Kind.AGGREGATE, Kind.AGGREGATE, Kind.TO_TABLE, Kind.TABLE_FILTER,
        Kind.TABLE_MAP_VALUES, Kind.JOIN_TABLES, Kind.JOIN_FOREIGN_KEY, Kind.TABLE_AGGREGATE, Kind.SUPPRESS,
        Kind.SUPPRESS, Kind.TO_STREAM,
    };

    final Random random;
    private final Program program;
    /** How often the program names stores, groupings and operators. */
    private final double storeNames;
    private final double operatorNames;

    Draw(Random random, Program program) {
        this.random = random;
        this.program = program;
        double[] often = {0, 0.5, 1, 1};
        storeNames = often[random.nextInt(often.length)];
        operatorNames = often[random.nextInt(often.length)];
    }

    static Program program(Random random) {
        Program program = new Program();
        Draw draw = new Draw(random, program);
        int sources = 1 + random.nextInt(3);
        int operators = 2 + random.nextInt(7);
        while (sources + operators > 0) {
            if (program.steps.isEmpty() || random.nextInt(sources + operators) < sources) {
                program.steps.add(draw.source(program.steps.isEmpty() ? draw.streamOrTable() : draw.anySource()));
                sources--;
            } else {
                Step step = draw.operator(program.steps);
                if (step != null) {
                    program.steps.add(step);
                }
                operators--;
            }
        }
        for (Step step : List.copyOf(program.steps)) {
            if (program.consumers(step.id).isEmpty()) {
                program.steps.addAll(draw.ending(step));
            }
        }
        return program;
    }

    Kind streamOrTable() {
        return random.nextInt(4) == 0 ? Kind.TABLE : Kind.STREAM;
    }

    Kind anySource() {
        return random.nextInt(5) == 0 ? Kind.GLOBAL : streamOrTable();
    }

    <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    boolean often(double share) {
        return random.nextDouble() < share;
    }

    String key() {
        return KEYS[random.nextInt(KEYS.length)];
    }

    /** A name that nothing else has. */
    String fresh(String what, int id) {
        return what + id + "n" + program.next++;
    }

    Step source(Kind kind) {
        Step step = step(kind, List.of());
        step.topic = topic("in");
        return step;
    }

    String topic(String what) {
        String topic = what + program.next++;
        int[] counts = {4, 4, 4, 4, 4, 2, 8};
        program.partitions.put(topic, counts[random.nextInt(counts.length)]);
        program.topicKeys.put(topic, key());
        return topic;
    }

    /** A step of a random kind on what there is; null where nothing fits the kind that was drawn. */
    Step operator(List<Step> there) {
        Kind kind = OPERATORS[random.nextInt(OPERATORS.length)];
        List<Integer> inputs = new ArrayList<>();
        for (char takes : kind.takes().toCharArray()) {
            List<Step> fitting = there.stream()
                    .filter(one -> one.kind.gives() == takes && !inputs.contains(one.id) && suits(kind, one))
                    .toList();
            if (fitting.isEmpty()) {
                return null;
            }
            inputs.add(one(fitting).id);
        }
        return step(kind, inputs);
    }

    /** Results of windows are filtered, held back and written out, nothing else. */
    boolean suits(Kind kind, Step input) {
        return !program.windowed(input) || kind == Kind.SUPPRESS || kind == Kind.TO_STREAM
                || kind == Kind.TABLE_FILTER || kind == Kind.TABLE_MAP_VALUES;
    }

    Step step(Kind kind, List<Integer> inputs) {
        Step step = new Step(program.next++, kind, inputs);
        if (often(operatorNames)) {
            step.name = fresh("op", step.id);
        }
        if (kind.aggregates() && often(Math.max(storeNames, operatorNames))) {
            step.grouped = fresh("by", step.id);
        }
        if (mayKeep(kind) && often(storeNames)) {
            step.store = step.name != null && random.nextInt(3) == 0 ? step.name + "-store" : fresh("kept", step.id);
        }
        if (kind == Kind.SELECT_KEY || kind == Kind.TABLE_AGGREGATE || kind == Kind.AGGREGATE && random.nextBoolean()) {
            step.key = key();
        }
        if (kind.aggregates()) {
            step.function = one(List.of(Step.Function.values()));
        }
        if (kind == Kind.AGGREGATE && random.nextInt(5) < 2) {
            step.window = random.nextInt(3) == 0 ? Step.Window.SESSION : Step.Window.TIME;
        }
        if (kind.isJoin()) {
            step.join = kind == Kind.JOIN_TABLE || kind == Kind.JOIN_FOREIGN_KEY
                    ? one(List.of(Step.Join.INNER, Step.Join.LEFT))
                    : one(List.of(Step.Join.INNER, Step.Join.INNER, Step.Join.LEFT, Step.Join.OUTER));
        }
        if (kind == Kind.THROUGH) {
            step.topic = topic("through");
        }
        return step;
    }

    static boolean mayKeep(Kind kind) {
        return switch (kind) {
            case TABLE, GLOBAL, JOIN_STREAMS, AGGREGATE, TO_TABLE, TABLE_FILTER, TABLE_MAP_VALUES, JOIN_TABLES,
                    JOIN_FOREIGN_KEY, TABLE_AGGREGATE -> true;
            default -> false;
        };
    }

    /** A sink behind something, most of the time. */
    List<Step> ending(Step last) {
        List<Step> made = new ArrayList<>();
        if (last.kind == Kind.SINK || last.kind == Kind.GLOBAL || last.kind.gives() == 't' && random.nextInt(5) == 0) {
            return made;
        }
        Step stream = last;
        if (last.kind.gives() == 't') {
            stream = step(Kind.TO_STREAM, List.of(last.id));
            made.add(stream);
        }
        Step sink = step(Kind.SINK, List.of(stream.id));
        sink.topic = "out" + sink.id;
        made.add(sink);
        return made;
    }
}
