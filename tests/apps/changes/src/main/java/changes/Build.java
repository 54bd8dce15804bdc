package changes;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.kstream.internals.NamedInternal;

/**
 * Calls the DSL, step by step.
 *
 * The library counts the numbers in generated names up. The numbers that a step took therefore identify its operators,
 * stores and topics in the built topology.
 */
final class Build {
    final Topology topology;
    /** From the first number that a step took to its id. */
    final TreeMap<Integer, Integer> numbers = new TreeMap<>();
    private final StreamsBuilder builder = new StreamsBuilder();
    private final Map<Integer, Object> made = new HashMap<>();

    Build(Program program) {
        AtomicInteger index = (AtomicInteger) field(field(builder, "internalStreamsBuilder"), "index");
        for (Step step : program.steps) {
            numbers.put(index.get(), step.id);
            Object result = call(program, step);
            if (result != null) {
                made.put(step.id, result);
            }
        }
        topology = builder.build();
    }

    static Object field(Object of, String name) {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field found = type.getDeclaredField(name);
                found.setAccessible(true);
                return found.get(of);
            } catch (NoSuchFieldException absent) {
                continue;
            } catch (IllegalAccessException denied) {
                throw new IllegalStateException(denied);
            }
        }
        throw new IllegalStateException(of.getClass() + " has no field " + name);
    }

    private Object call(Program program, Step step) {
        Named named = step.name == null ? NamedInternal.empty() : Named.as(step.name);
        return switch (step.kind) {
            case STREAM -> builder.stream(step.topic, consumed(step.name));
            case TABLE -> builder.table(step.topic, consumed(step.name), kept(step));
            case GLOBAL -> step.store == null
                    ? builder.globalTable(step.topic, consumed(step.name))
                    : builder.globalTable(step.topic, consumed(step.name), kept(step));
            case FILTER -> stream(step, 0).filter((key, value) -> true, named);
            case MAP_VALUES -> stream(step, 0).mapValues(value -> value, named);
            case PEEK -> stream(step, 0).peek((key, value) -> { }, named);
            case SELECT_KEY -> stream(step, 0).selectKey((key, value) -> value, named);
            case MERGE -> stream(step, 0).merge(stream(step, 1), named);
            case REPARTITION -> stream(step, 0)
                    .repartition(step.name == null ? Repartitioned.with(null, null) : Repartitioned.as(step.name));
            case THROUGH -> through(step);
            case JOIN_STREAMS -> joinStreams(step);
            case JOIN_TABLE -> joinTable(step);
            case JOIN_GLOBAL -> stream(step, 0).join(
                    (GlobalKTable<Object, Object>) made.get(step.inputs.get(1)),
                    (key, value) -> value, (one, other) -> one, named);
            case AGGREGATE -> aggregate(step, named);
            case TO_TABLE -> stream(step, 0).toTable(named, kept(step));
            case TABLE_FILTER -> step.store == null
                    ? table(step, 0).filter((key, value) -> true, named)
                    : table(step, 0).filter((key, value) -> true, named, kept(step));
            case TABLE_MAP_VALUES -> step.store == null
                    ? table(step, 0).mapValues(value -> value, named)
                    : table(step, 0).mapValues(value -> value, named, kept(step));
            case JOIN_TABLES -> joinTables(step, named);
            case JOIN_FOREIGN_KEY -> joinByForeignKey(step);
            case TABLE_AGGREGATE -> aggregateTable(step, named);
            case SUPPRESS -> suppress(program, step);
            case TO_STREAM -> table(step, 0).toStream(named);
            case SINK -> {
                stream(step, 0).to(step.topic, produced(step.name));
                yield null;
            }
        };
    }

    private KStream<Object, Object> stream(Step step, int input) {
        return (KStream<Object, Object>) made.get(step.inputs.get(input));
    }

    private KTable<Object, Object> table(Step step, int input) {
        return (KTable<Object, Object>) made.get(step.inputs.get(input));
    }

    private static Consumed<Object, Object> consumed(String name) {
        return name == null ? Consumed.with(null, null) : Consumed.as(name);
    }

    private static Produced<Object, Object> produced(String name) {
        return name == null ? Produced.with(null, null) : Produced.as(name);
    }

    private static Materialized kept(Step step) {
        return step.store == null ? Materialized.with(null, null) : Materialized.as(step.store);
    }

    private KStream<Object, Object> through(Step step) {
        stream(step, 0).to(step.topic, produced(step.name == null ? null : step.name + "-out"));
        return builder.stream(step.topic, consumed(step.name == null ? null : step.name + "-in"));
    }

    private Object joinStreams(Step step) {
        StreamJoined<Object, Object, Object> joined =
                step.store == null ? StreamJoined.with(null, null, null) : StreamJoined.as(step.store);
        joined = step.name == null ? joined : joined.withName(step.name);
        JoinWindows window = JoinWindows.ofTimeDifferenceAndGrace(minutes(step), Duration.ofMinutes(5));
        KStream<Object, Object> one = stream(step, 0);
        KStream<Object, Object> other = stream(step, 1);
        return switch (step.join) {
            case INNER -> one.join(other, (left, right) -> left, window, joined);
            case LEFT -> one.leftJoin(other, (left, right) -> left, window, joined);
            case OUTER -> one.outerJoin(other, (left, right) -> left, window, joined);
        };
    }

    private Object joinTable(Step step) {
        Joined<Object, Object, Object> joined =
                step.name == null ? Joined.with(null, null, null) : Joined.as(step.name);
        return step.join == Step.Join.INNER
                ? stream(step, 0).join(table(step, 1), (left, right) -> left, joined)
                : stream(step, 0).leftJoin(table(step, 1), (left, right) -> left, joined);
    }

    private Object joinTables(Step step, Named named) {
        KTable<Object, Object> one = table(step, 0);
        KTable<Object, Object> other = table(step, 1);
        ValueJoiner<Object, Object, Object> joiner = (left, right) -> left;
        Materialized kept = step.store == null ? null : kept(step);
        return switch (step.join) {
            case INNER -> kept == null ? one.join(other, joiner, named) : one.join(other, joiner, named, kept);
            case LEFT -> kept == null ? one.leftJoin(other, joiner, named) : one.leftJoin(other, joiner, named, kept);
            case OUTER ->
                kept == null ? one.outerJoin(other, joiner, named) : one.outerJoin(other, joiner, named, kept);
        };
    }

    private Object joinByForeignKey(Step step) {
        TableJoined<Object, Object> joined =
                step.name == null ? TableJoined.with(null, null) : TableJoined.as(step.name);
        ValueJoiner<Object, Object, Object> joiner = (left, right) -> left;
        java.util.function.Function<Object, Object> foreign = value -> value;
        KTable<Object, Object> one = table(step, 0);
        KTable<Object, Object> other = table(step, 1);
        if (step.join == Step.Join.INNER) {
            return step.store == null
                    ? one.join(other, foreign, joiner, joined)
                    : one.join(other, foreign, joiner, joined, kept(step));
        }
        return step.store == null
                ? one.leftJoin(other, foreign, joiner, joined)
                : one.leftJoin(other, foreign, joiner, joined, kept(step));
    }

    private static Grouped<Object, Object> grouped(Step step) {
        return step.grouped == null ? Grouped.with(null, null) : Grouped.as(step.grouped);
    }

    private Object aggregate(Step step, Named named) {
        KGroupedStream<Object, Object> by = step.key == null
                ? stream(step, 0).groupByKey(grouped(step))
                : stream(step, 0).groupBy((key, value) -> value, grouped(step));
        Reducer<Object> reducer = (one, other) -> other;
        Initializer<Object> first = () -> "";
        Aggregator<Object, Object, Object> aggregator = (key, value, so) -> value;
        return switch (step.window) {
            case NONE -> switch (step.function) {
                case COUNT -> by.count(named, kept(step));
                case REDUCE -> by.reduce(reducer, named, kept(step));
                case AGGREGATE -> by.aggregate(first, aggregator, named, kept(step));
            };
            case TIME -> {
                var in = by.windowedBy(TimeWindows.ofSizeAndGrace(minutes(step), Duration.ofMinutes(5)));
                yield switch (step.function) {
                    case COUNT -> in.count(named, kept(step));
                    case REDUCE -> in.reduce(reducer, named, kept(step));
                    case AGGREGATE -> in.aggregate(first, aggregator, named, kept(step));
                };
            }
            case SESSION -> {
                var in = by.windowedBy(SessionWindows.ofInactivityGapAndGrace(minutes(step), Duration.ofMinutes(5)));
                yield switch (step.function) {
                    case COUNT -> in.count(named, kept(step));
                    case REDUCE -> in.reduce(reducer, named, kept(step));
                    case AGGREGATE -> in.aggregate(first, aggregator, (key, one, other) -> one, named, kept(step));
                };
            }
        };
    }

    private Object aggregateTable(Step step, Named named) {
        KGroupedTable<Object, Object> by =
                table(step, 0).groupBy((key, value) -> KeyValue.pair(value, value), grouped(step));
        Reducer<Object> reducer = (one, other) -> other;
        Aggregator<Object, Object, Object> aggregator = (key, value, so) -> value;
        return switch (step.function) {
            case COUNT -> by.count(named, kept(step));
            case REDUCE -> by.reduce(reducer, reducer, named, kept(step));
            case AGGREGATE -> by.aggregate(() -> "", aggregator, aggregator, named, kept(step));
        };
    }

    private Object suppress(Program program, Step step) {
        boolean closes = program.windowed(step);
        Suppressed by = closes
                ? Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())
                : Suppressed.untilTimeLimit(minutes(step), Suppressed.BufferConfig.unbounded());
        return table(step, 0).suppress(step.name == null ? by : by.withName(step.name));
    }

    private static Duration minutes(Step step) {
        return Duration.ofMinutes(step.minutes);
    }
}
