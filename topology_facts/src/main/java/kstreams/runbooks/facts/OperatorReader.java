package kstreams.runbooks.facts;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads operators: what each one does with the store that it fills, and how it joins. */
final class OperatorReader {
    /** What an operator does with its store. */
    enum Role {
        AGGREGATE,
        REDUCE,
        TABLE,
        SOURCE_TABLE,
        TABLE_JOIN,
        JOIN_WINDOW,
        STREAM_JOIN,
        LOOKUP,
        FOREIGN_KEY,
        SUPPRESS
    }

    // Those that have facts of their own, next to those of their store. A set of enums may not be asked for null.
    private static final Collection<Role> WITH_FACTS = Arrays.asList(
            Role.AGGREGATE, Role.REDUCE, Role.TABLE, Role.TABLE_JOIN, Role.STREAM_JOIN, Role.LOOKUP, Role.FOREIGN_KEY);
    private static final String INTERNALS = "streams.kstream.internals.";
    private static final Map<String, Role> ROLES = new HashMap<>();
    // What an operator on a table does, by its class.
    private static final Map<String, String> TABLES = new HashMap<>();
    // Operators of Kafka around code of the program, by the field that makes it.
    private static final Map<String, String> TRANSFORMERS = new HashMap<>();

    static {
        TABLES.put("KTableFilter", "filter");
        TABLES.put("KTableMapValues", "map_values");
        TABLES.put("KTableTransformValues", "transform_values");
        roles(Role.AGGREGATE, "KStreamAggregate", "KTableAggregate", "KStreamWindowAggregate",
                "KStreamSlidingWindowAggregate", "KStreamSessionWindowAggregate");
        roles(Role.REDUCE, "KStreamReduce", "KTableReduce");
        roles(Role.TABLE, "KTableFilter", "KTableMapValues", "KTableTransformValues");
        roles(Role.SOURCE_TABLE, "KTableSource");
        roles(Role.TABLE_JOIN, "KTableKTableJoinMerger");
        roles(Role.JOIN_WINDOW, "KStreamJoinWindow");
        roles(Role.STREAM_JOIN, "KStreamKStreamJoin", "KStreamKStreamJoinLeftSide", "KStreamKStreamJoinRightSide",
                "KStreamKStreamSelfJoin");
        roles(Role.LOOKUP, "KStreamKTableJoin", "KStreamGlobalKTableJoin");
        roles(Role.FOREIGN_KEY, "foreignkeyjoin.SubscriptionResolverJoinProcessorSupplier",
                "foreignkeyjoin.ResponseJoinProcessorSupplier");
        roles(Role.SUPPRESS, "suppress.KTableSuppressProcessorSupplier");
        TRANSFORMERS.put(INTERNALS + "KStreamTransformValues", "valueTransformerSupplier");
        TRANSFORMERS.put(INTERNALS + "KStreamFlatTransformValues", "valueTransformerSupplier");
        TRANSFORMERS.put(INTERNALS + "KStreamFlatTransform", "transformerSupplier");
        TRANSFORMERS.put(INTERNALS + "KTableTransformValues", "transformerSupplier");
    }

    private final Program program;
    private final WindowReader windows;

    OperatorReader(Program program) {
        this.program = program;
        this.windows = new WindowReader(program.library);
    }

    private static void roles(Role role, String... types) {
        for (String type : types) {
            ROLES.put(INTERNALS + type, role);
        }
    }

    /** Whether a class of Kafka is in the table of roles. */
    static boolean knows(String type) {
        return ROLES.containsKey(type);
    }

    /** The role of a node; null for one of the program's own classes and for a class that is not in the table. */
    Role role(Program.Node node) {
        return ROLES.get(program.library.known(node.code));
    }

    /** The store that a node fills, null if it fills none; NotRead if the class has another shape. */
    String fills(Program.Node node) throws NotRead {
        Role role = role(node);
        if (role == null) {
            return null;
        }
        switch (role) {
            case AGGREGATE:
            case REDUCE:
            case SOURCE_TABLE:
                return (String) Peek.field(node.code, "storeName");
            case TABLE:
            case TABLE_JOIN:
                return (String) Peek.field(node.code, "queryableName");
            case JOIN_WINDOW:
                return Peek.has(node.code, "windowName")
                        ? (String) Peek.field(node.code, "windowName")
                        : (String) Peek.call(Peek.field(node.code, "thisWindowStoreFactory"), "storeName");
            default:
                return null;
        }
    }

    /** The facts of one processor; none for an operator of Kafka without any. */
    void read(Facts operators, Program.Node node) {
        Role role = role(node);
        String transformer = TRANSFORMERS.get(program.library.known(node.code));
        boolean own = program.library.known(node.code).isEmpty() || transformer != null;
        if (!own && !WITH_FACTS.contains(role)) {
            return;
        }
        Facts facts = operators.at(node.name);
        if (role == Role.TABLE) {
            facts.read("table", () -> onTable(node));
        }
        if (own) {
            facts.read("processor", () ->
                    Library.lastingName(transformer == null ? node.code : Peek.field(node.code, transformer)));
            facts.notRead("punctuators", "a processor schedules them when it starts; declare them if they matter");
        } else if (role == Role.AGGREGATE || role == Role.REDUCE) {
            facts.read("aggregation", () -> aggregation(node));
        } else if (role == Role.TABLE_JOIN) {
            facts.read("join", () -> join(node));
            facts.read("versioned_semantics", () -> versionedSemantics(node));
        } else if (role == Role.STREAM_JOIN) {
            facts.read("unmatched_records", () -> keepsUnmatched(node));
            facts.read("join", () -> joinOfSides(node));
        } else if (role == Role.LOOKUP) {
            facts.read("join", () -> Peek.flag(node.code, "leftJoin") ? "left" : "inner");
            facts.read("grace_ms", () -> graceOfTable(node.code));
        } else if (role == Role.FOREIGN_KEY) {
            facts.read("join", () -> Peek.flag(node.code, "leftJoin") ? "left" : "inner");
            facts.read("foreign_key", () -> true);
            if (hashesBySettings(node.code)) {
                facts.read("value_serde_of_settings", () -> Arrays.asList("default.value.serde"));
            }
        }
    }

    /** A foreign-key join compares the values of its left table by their bytes, for which it needs a serializer. */
    private static boolean hashesBySettings(Object join) {
        String serializer = "constructionTimeValueSerializer";
        try {
            return Peek.has(join, serializer) && Peek.field(join, serializer) == null;
        } catch (NotRead hidden) {
            return false;
        }
    }

    /** The facts of the store that a node fills: aggregate, aggregation, join, source_table and window. */
    void readStore(Facts store, Program.Node node) {
        Role role = role(node);
        store.read("made_by", () -> madeBy(node));
        store.read("source_table", () -> role == Role.SOURCE_TABLE && isSourceTable(node));
        store.read("join", () -> role == Role.TABLE_JOIN ? join(node) : foreignKeyJoin(node));
        store.read("aggregate", () -> aggregate(node));
        store.read("aggregation", () -> {
            boolean aggregates = role == Role.AGGREGATE || role == Role.REDUCE;
            return aggregates ? aggregation(node).get("kind") : "none";
        });
        if (role == Role.AGGREGATE && Peek.has(node.code, "windows")) {
            try {
                windows.read(store, Peek.field(node.code, "windows"), node.code);
            } catch (NotRead reason) {
                store.notRead("window", reason.getMessage());
            }
        }
    }

    /** What an operator on a table does: a filter that leaves rows out has a class of its own kind with a flag. */
    private String onTable(Program.Node node) throws NotRead {
        String kind = TABLES.get(program.library.known(node.code).replace(INTERNALS, ""));
        return kind.equals("filter") && Peek.flag(node.code, "filterNot") ? "filter_not" : kind;
    }

    /** The kind of the operator that fills a store. A table and a stream as a table, of one topic, fill it alike. */
    private Object madeBy(Program.Node node) throws NotRead {
        switch (role(node)) {
            case AGGREGATE:
            case REDUCE:
                return aggregation(node).get("kind");
            case SOURCE_TABLE:
                return foreignKeyJoin(node) != null ? "join" : isBehindInputs(node) ? "table" : "to_table";
            case TABLE:
                return onTable(node);
            default:
                return "join";
        }
    }

    /** Whether every operator before a node is a source of topics that the program does not write. */
    private boolean isBehindInputs(Program.Node node) throws NotRead {
        for (String before : node.predecessors) {
            if (!program.isSource(program.nodes.get(before))) {
                return false;
            }
        }
        return program.writing(program.topicsBefore(node)).isEmpty();
    }

    private Object aggregate(Program.Node node) throws NotRead {
        Role role = role(node);
        if (role != Role.AGGREGATE && role != Role.REDUCE) {
            return "none";
        }
        String kind = (String) aggregation(node).get("kind");
        if (kind.equals("count")) {
            return kind;
        }
        throw new NotRead("the code of the " + kind + " of operator " + node.name
                + " is not readable; declare in words how records become its values");
    }

    /** Kind and classes; a class is a weak sign, because a lambda can change behind the same name. */
    private Map<String, Object> aggregation(Program.Node node) throws NotRead {
        Map<String, Object> found = new LinkedHashMap<>();
        if (role(node) == Role.REDUCE) {
            found.put("kind", "reduce");
            found.put("reducer", Library.lastingName(first(node.code, "reducer", "addReducer")));
            return found;
        }
        Object aggregator = first(node.code, "aggregator", "add");
        found.put("kind", kindOf(aggregator));
        found.put("initializer", Library.lastingName(Peek.field(node.code, "initializer")));
        found.put("aggregator", Library.lastingName(aggregator));
        return found;
    }

    /** The library makes the aggregators of count and of a windowed reduce itself, as lambdas of these classes. */
    private String kindOf(Object aggregator) throws NotRead {
        switch (program.library.known(aggregator)) {
            case "":
                return "aggregate";
            case INTERNALS + "GroupedStreamAggregateBuilder":
            case INTERNALS + "KGroupedTableImpl":
                return "count";
            case INTERNALS + "TimeWindowedKStreamImpl":
            case INTERNALS + "SlidingWindowedKStreamImpl":
            case INTERNALS + "SessionWindowedKStreamImpl":
                return "reduce";
            default:
                throw new NotRead("class " + Peek.nameOf(aggregator) + " of the aggregator is not known (expected one "
                        + "of the program, or of a count or reduce of Kafka Streams 2.4 to 4.3); declare the "
                        + "aggregate");
        }
    }

    private String join(Program.Node node) throws NotRead {
        String one = program.library.known(Peek.field(node.code, "parent1")).replace(INTERNALS, "");
        String other = program.library.known(Peek.field(node.code, "parent2")).replace(INTERNALS, "");
        switch (one + " " + other) {
            case "KTableKTableInnerJoin KTableKTableInnerJoin":
                return "inner";
            case "KTableKTableLeftJoin KTableKTableRightJoin":
                return "left";
            case "KTableKTableOuterJoin KTableKTableOuterJoin":
                return "outer";
            default:
                throw new NotRead("classes " + one + " and " + other
                        + " of the join are not known together; declare the join manually");
        }
    }

    private static boolean keepsUnmatched(Program.Node side) throws NotRead {
        return Peek.has(side.code, "outer") && Peek.flag(side.code, "outer");
    }

    /** A join of streams has an operator for each side and one that merges both; a join with itself has no other side. */
    private String joinOfSides(Program.Node node) throws NotRead {
        if (program.library.known(node.code).endsWith("KStreamKStreamSelfJoin")) {
            return "inner";
        }
        for (Program.Node merge : program.nodes.values()) {
            List<String> sides = merge.predecessors;
            if (sides.size() != 2 || !sides.contains(node.name)) {
                continue;
            }
            Program.Node one = program.nodes.get(sides.get(0));
            Program.Node other = program.nodes.get(sides.get(1));
            if (role(one) == Role.STREAM_JOIN && role(other) == Role.STREAM_JOIN) {
                boolean both = keepsUnmatched(one) && keepsUnmatched(other);
                return both ? "outer" : keepsUnmatched(one) || keepsUnmatched(other) ? "left" : "inner";
            }
        }
        throw new NotRead("no operator that merges both sides of join " + node.name + " is known; declare the join");
    }

    private Object versionedSemantics(Program.Node node) throws NotRead {
        Object side = Peek.field(node.code, "parent1");
        if (!Peek.has(side, "useVersionedSemantics") && program.library.isBefore(3, 5)) {
            return false;
        }
        return Peek.flag(side, "useVersionedSemantics")
                || Peek.flag(Peek.field(node.code, "parent2"), "useVersionedSemantics");
    }

    private Object graceOfTable(Object join) throws NotRead {
        if (!Peek.has(join, "gracePeriod")) {
            if (program.library.isBefore(3, 5) || program.library.known(join).contains("Global")) {
                return null;
            }
            throw new NotRead("class " + Peek.nameOf(join) + " has no field gracePeriod; declare the grace manually");
        }
        Optional<?> grace = (Optional<?>) Peek.field(join, "gracePeriod");
        return grace.isPresent() ? Peek.call(grace.get(), "toMillis") : null;
    }

    private Object foreignKeyJoin(Program.Node node) throws NotRead {
        for (String before : node.predecessors) {
            Program.Node joining = program.nodes.get(before);
            if (role(joining) == Role.FOREIGN_KEY) {
                return Peek.flag(joining.code, "leftJoin") ? "left" : "inner";
            }
        }
        return null;
    }

    /**
     * Whether a table is read straight from a topic. A stream that becomes a table has the same class behind a source
     * too. Their names differ, because the library makes the name of a table's source from that of the table.
     */
    private boolean isSourceTable(Program.Node node) throws NotRead {
        for (String before : node.predecessors) {
            if (!program.isSource(program.nodes.get(before))) {
                return false;
            }
            if (before.equals(node.name + "-source")
                    || (before.startsWith("KSTREAM-SOURCE-") && node.name.startsWith("KTABLE-SOURCE-"))) {
                return true;
            }
        }
        if (node.name.startsWith("KSTREAM-TOTABLE-")) {
            return false;
        }
        throw new NotRead("operator " + node.name
                + " may be a table of a topic or a stream that becomes one (its source is "
                + String.join(", ", node.predecessors) + "); declare source_table");
    }

    /** The stream-stream join that reads a store; NotRead if no operator that is known reads it. */
    private Object joinOfStreams(String store) throws NotRead {
        for (Program.Node user : program.users(store)) {
            if (role(user) == Role.STREAM_JOIN) {
                return user.code;
            }
        }
        throw new NotRead("no join of streams that reads store " + store + " is known; declare its window");
    }

    /**
     * The window of a stream-stream join, from its operator: before release 3.9 the library keeps no other.
     * {@code kept} reads the time in ms that the store keeps beyond the window, which is the grace before release 3.1.
     */
    void readJoinWindow(Facts window, String store, Facts.Reading kept) {
        window.read("kind", () -> "join");
        window.read("size_ms", () -> WindowReader.difference(before(store), after(store)));
        Facts.Reading grace = () -> {
            Object join = joinOfStreams(store);
            return Peek.has(join, "joinGraceMs") ? Peek.field(join, "joinGraceMs") : kept.read();
        };
        window.read("grace_ms", grace);
        window.read("grace_given", () -> isSpuriousFixed(store)
                || WindowReader.isNotDefault((Long) grace.read(), before(store) + after(store)));
    }

    private long before(String store) throws NotRead {
        return ((Number) first(joinOfStreams(store), "joinBeforeMs", "joinThisBeforeMs")).longValue();
    }

    private long after(String store) throws NotRead {
        return ((Number) first(joinOfStreams(store), "joinAfterMs", "joinThisAfterMs")).longValue();
    }

    /** The factories that take a grace switch the fix on, and no others do. */
    private boolean isSpuriousFixed(String store) throws NotRead {
        Object join = joinOfStreams(store);
        return Peek.has(join, "enableSpuriousResultFix") && Peek.flag(join, "enableSpuriousResultFix");
    }

    /** Inner or left, of the foreign-key join whose subscriptions a store has; null for any other store. */
    Object joinOfSubscriptions(String store) throws NotRead {
        for (Program.Node user : program.users(store)) {
            for (Program.Node sink : program.writing(program.topicsBefore(user))) {
                for (String sender : sink.predecessors) {
                    Object code = program.nodes.get(sender).code;
                    if (program.library.known(code).contains(".foreignkeyjoin.") && Peek.has(code, "leftJoin")) {
                        return Peek.flag(code, "leftJoin") ? "left" : "inner";
                    }
                }
            }
        }
        return null;
    }

    private static Object first(Object of, String one, String other) throws NotRead {
        return Peek.field(of, Peek.has(of, one) ? one : other);
    }
}
