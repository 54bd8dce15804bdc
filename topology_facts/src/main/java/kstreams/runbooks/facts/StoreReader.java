package kstreams.runbooks.facts;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads the stores of a program, through the table of the classes with which each release builds them. */
final class StoreReader {
    /** The class of a builder or factory: the kind of its store, and the fields in which its facts are. */
    private enum Shape {
        /** A builder with a supplier; releases until 3.8, and every store of a processor. */
        BUILDER,
        /** A factory of 3.9 and later, with the Materialized of the program. */
        MATERIALIZED,
        /** A factory of a stream-stream join. */
        JOINED,
        /** The state of a foreign-key join. */
        SUBSCRIPTION,
        /** The buffer of a suppression: its facts are those of the suppression. */
        SUPPRESSION
    }

    private static final class Row {
        final Shape shape;
        final String kind;

        Row(Shape shape, String kind) {
            this.shape = shape;
            this.kind = kind;
        }
    }

    private static final String STATE = "streams.state.internals.";
    private static final String BOTH_SIDES =
            "the store has the values of both sides of the join; read the serdes of its topics";
    private static final String KSTREAM = "streams.kstream.internals.";
    private static final Map<String, Row> ROWS = new HashMap<>();

    static {
        rows(Shape.BUILDER, "key_value", STATE + "KeyValueStoreBuilder", STATE + "TimestampedKeyValueStoreBuilder",
                STATE + "TimestampedKeyValueStoreBuilderWithHeaders");
        rows(Shape.BUILDER, "window", STATE + "WindowStoreBuilder", STATE + "TimestampedWindowStoreBuilder",
                STATE + "TimestampedWindowStoreWithHeadersBuilder");
        rows(Shape.BUILDER, "session", STATE + "SessionStoreBuilder", STATE + "SessionStoreWithHeadersBuilder");
        rows(Shape.BUILDER, "versioned", STATE + "VersionedKeyValueStoreBuilder");
        rows(Shape.BUILDER, "join", STATE + "ListValueStoreBuilder");
        rows(Shape.MATERIALIZED, "key_value", KSTREAM + "KeyValueStoreMaterializer",
                KSTREAM + "TimestampedKeyValueStoreMaterializer");
        rows(Shape.MATERIALIZED, "window", KSTREAM + "WindowStoreMaterializer",
                KSTREAM + "SlidingWindowStoreMaterializer");
        rows(Shape.MATERIALIZED, "session", KSTREAM + "SessionStoreMaterializer");
        rows(Shape.JOINED, "join", KSTREAM + "StreamJoinedStoreFactory", KSTREAM + "OuterStreamJoinStoreFactory");
        rows(Shape.SUBSCRIPTION, "key_value", KSTREAM + "SubscriptionStoreFactory");
        rows(Shape.SUPPRESSION, "", STATE + "InMemoryTimeOrderedKeyValueBuffer$Builder",
                STATE + "InMemoryTimeOrderedKeyValueChangeBuffer$Builder");
    }

    private final Program program;
    private final SerdeReader serdes;
    private final OperatorReader operators;
    private final WindowReader windows;
    private final Map<String, List<Program.Node>> filledBy = new TreeMap<>();

    StoreReader(Program program, SerdeReader serdes, OperatorReader operators) throws NotRead {
        this.program = program;
        this.serdes = serdes;
        this.operators = operators;
        this.windows = new WindowReader(program.library);
        for (Program.Node node : program.nodes.values()) {
            String store = operators.fills(node);
            if (store != null) {
                filledBy.computeIfAbsent(store, name -> new ArrayList<>()).add(node);
            }
        }
    }

    private static void rows(Shape shape, String kind, String... types) {
        for (String type : types) {
            ROWS.put(type, new Row(shape, kind));
        }
    }

    /** Without the wrappers of 2.4 to 4.3 around a builder and around a factory. */
    static Object unwrapped(Library library, Object store) throws NotRead {
        Object inner = store;
        for (Object next = store; next != null; inner = next, next = next(library, next)) {
            continue;
        }
        return inner;
    }

    private static Object next(Library library, Object store) throws NotRead {
        switch (library.known(store)) {
            case "streams.processor.internals.InternalTopologyBuilder$StateStoreFactory":
            case "streams.processor.internals.StoreBuilderWrapper":
                return Peek.field(store, "builder");
            case "streams.processor.internals.StoreFactory$FactoryWrappingStoreBuilder":
                return Peek.field(store, "storeFactory");
            default:
                return null;
        }
    }

    /** Reads every store; the buffers of suppressions belong to those. */
    void read(Facts stores) {
        program.stores.forEach((name, store) -> read(stores, name, store, false));
        program.globalStores.forEach((name, store) -> read(stores, name, store, true));
    }

    private void read(Facts stores, String name, Object wrapped, boolean global) {
        Object builder;
        try {
            builder = unwrapped(program.library, wrapped);
        } catch (NotRead reason) {
            stores.notRead(name, reason.getMessage());
            return;
        }
        Row row = ROWS.get(program.library.known(builder));
        if (row == null) {
            stores.notRead(name, "class " + Peek.nameOf(builder)
                    + " of the store is not known to the readers of Kafka Streams 2.4 to 4.3; declare the store "
                    + "manually");
            return;
        }
        if (row.shape == Shape.SUPPRESSION) {
            boolean known = program.users(name).stream()
                    .anyMatch(user -> operators.role(user) == OperatorReader.Role.SUPPRESS);
            if (!known) {
                stores.notRead(name, "no suppression that the buffer belongs to is known to the readers; declare it");
            }
            return;
        }
        Facts store = stores.at(name);
        List<Program.Node> filling = filledBy.getOrDefault(name, new ArrayList<>());
        boolean joins = filling.stream().anyMatch(node -> operators.role(node) == OperatorReader.Role.JOIN_WINDOW);
        store.read("kind", () -> joins ? "join" : kind(row, builder));
        store.read("global", () -> global);
        switch (row.shape) {
            case BUILDER:
                readBuilder(store, builder, row.kind);
                if (joins || row.kind.equals("join")) {
                    operators.readJoinWindow(store.at("window"), name, () -> keptBeyondWindow(builder));
                }
                break;
            case MATERIALIZED:
                readMaterialized(store, builder);
                break;
            case JOINED:
                readJoined(store, builder);
                break;
            default:
                for (String serde : new String[] {"key_serde", "value_serde"}) {
                    store.notRead(serde, "the library makes the format of the store of a foreign-key join from "
                            + "the serdes of both tables; read those");
                }
                store.read("logging", () -> Peek.flag(builder, "loggingEnabled"));
                store.read("logging_config", () -> Peek.map(builder, "logConfig"));
        }
        if (!global) {
            readSourceChangelog(store, name);
        }
        store.read("key_of", () -> keyOf(name, filling));
        if (!filling.isEmpty()) {
            operators.readStore(store, filling.get(0));
        } else {
            readUnfilled(store, name);
            if (row.kind.equals("window") || row.kind.equals("session")) {
                store.notRead("window", "no operator that fills the store is known to the readers; declare the window");
            }
        }
    }

    /** The optimization that reuses the topic of a table switches the changelog of its own off. */
    private void readSourceChangelog(Facts store, String name) {
        try {
            Object topic = Peek.map(program.builder, "storeToChangelogTopic").get(name);
            if (topic != null && program.reads(topic)) {
                store.read("logging", () -> true);
                store.read("changelog", () -> topic);
            }
        } catch (NotRead reason) {
            store.notRead("logging", reason.getMessage());
        }
    }

    private static String kind(Row row, Object builder) throws NotRead {
        boolean mayBeVersioned = row.shape == Shape.MATERIALIZED && row.kind.equals("key_value");
        return mayBeVersioned && (Boolean) Peek.call(builder, "isVersionedStore") ? "versioned" : row.kind;
    }

    private void readBuilder(Facts store, Object builder, String kind) {
        serdes.key(store, () -> Peek.field(builder, "keySerde"));
        if (program.library.known(builder).endsWith(".ListValueStoreBuilder")) {
            store.notRead("value_serde", BOTH_SIDES);
        } else {
            serdes.value(store, () -> Peek.field(builder, "valueSerde"));
        }
        store.read("logging", () -> Peek.flag(builder, "enableLogging"));
        store.read("logging_config", () -> Peek.map(builder, "logConfig"));
        store.read("caching", () -> Peek.flag(builder, "enableCaching"));
        readSupplier(store, () -> Peek.field(builder, "storeSupplier"), kind);
    }

    /** The library accepts only a supplier that keeps exactly the window of a join and its grace. */
    private static long keptBeyondWindow(Object builder) throws NotRead {
        Object supplier = Peek.field(builder, "storeSupplier");
        return (Long) Peek.call(supplier, "retentionPeriod") - (Long) Peek.call(supplier, "windowSize");
    }

    private void readMaterialized(Facts store, Object factory) {
        serdes.key(store, () -> materialized(factory, "keySerde"));
        serdes.value(store, () -> materialized(factory, "valueSerde"));
        store.read("logging", () -> materialized(factory, "loggingEnabled"));
        store.read("logging_config", () -> materialized(factory, "topicConfig"));
        store.read("caching", () -> (Boolean) materialized(factory, "cachingEnabled")
                && !finalOnly(factory)
                && !(Boolean) Peek.call(factory, "isVersionedStore"));
        readSupplier(store, () -> materialized(factory, "storeSupplier"), "");
        store.read("retention_ms", () -> keepsWindows(factory) ? retention(factory) : null);
        store.read("history_retention_ms", () -> (Boolean) Peek.call(factory, "isVersionedStore")
                ? Peek.call(factory, "historyRetention")
                : null);
    }

    private boolean keepsWindows(Object factory) throws NotRead {
        return (Boolean) Peek.call(factory, "isWindowStore")
                || program.library.known(factory).endsWith("SessionStoreMaterializer");
    }

    /** A supplier of the program keeps what it keeps; the factory has the time without one. */
    private static Object retention(Object factory) throws NotRead {
        Object supplier = materialized(factory, "storeSupplier");
        return Peek.call(supplier == null ? factory : supplier, "retentionPeriod");
    }

    /** Of final results the library caches those of tumbling and hopping windows alone. */
    private boolean finalOnly(Object factory) throws NotRead {
        return !program.library.known(factory).endsWith(".WindowStoreMaterializer")
                && Peek.has(factory, "emitStrategy")
                && windows.emit(factory).equals("on_window_close");
    }

    private void readJoined(Facts store, Object factory) {
        Facts.Reading joined = () ->
                Peek.field(factory, Peek.has(factory, "joinedInternal") ? "joinedInternal" : "streamJoined");
        serdes.key(store, () -> Peek.field(joined.read(), "keySerde"));
        if (Peek.has(factory, "valueSerde")) {
            serdes.value(store, () -> Peek.field(factory, "valueSerde"));
        } else {
            store.notRead("value_serde", BOTH_SIDES);
        }
        store.read("logging", () -> Peek.flag(factory, "loggingEnabled"));
        store.read("logging_config", () -> Peek.call(factory, "logConfig"));
        store.read("caching", () -> false);
        store.read("retention_ms", () -> Peek.call(factory, "retentionPeriod"));
        try {
            windows.read(store, Peek.field(factory, "windows"), null);
        } catch (NotRead reason) {
            store.notRead("window", reason.getMessage());
        }
    }

    private void readSupplier(Facts store, Facts.Reading supplier, String kind) {
        store.read("supplier", () -> {
            Object found = supplier.read();
            return found == null ? null : Library.lastingName(found);
        });
        if (kind.equals("window") || kind.equals("session")) {
            store.read("retention_ms", () -> Peek.call(supplier.read(), "retentionPeriod"));
        }
        if (kind.equals("versioned")) {
            store.read("history_retention_ms", () -> Peek.call(supplier.read(), "historyRetentionMs"));
        }
    }

    private static Object materialized(Object factory, String field) throws NotRead {
        return Peek.field(Peek.field(factory, "materialized"), field);
    }

    /** Whose keys a store has: those of the records that reach the operators which fill it. */
    private Collection<String> keyOf(String store, List<Program.Node> filling) throws NotRead {
        Collection<Program.Node> nodes = filling.isEmpty() ? program.users(store) : filling;
        for (Program.Node node : nodes) {
            String type = program.library.known(node.code);
            if (type.isEmpty() || type.contains(".foreignkeyjoin.")) {
                throw new NotRead("operator " + node.name + " computes the keys of the store, and its code is not "
                        + "readable; declare the key in words");
            }
        }
        return new KeyReader(program).before(nodes);
    }

    /** A store that no operator of the DSL fills: processors of the program fill it, or a join inside the library. */
    private void readUnfilled(Facts store, String name) {
        boolean own = false;
        boolean inner = true;
        for (Program.Node user : program.users(name)) {
            String type = program.library.known(user.code);
            own |= type.isEmpty();
            inner &= type.contains(".foreignkeyjoin.") || operators.role(user) == OperatorReader.Role.STREAM_JOIN;
        }
        String reason = "a processor of the program fills the store, and its code is not readable; declare the fact";
        if (own && program.wrapper == null) {
            store.read("source_table", () -> false);
            store.notRead("aggregate", reason);
            store.read("join", () -> null);
        } else if (inner) {
            store.read("source_table", () -> false);
            store.read("aggregate", () -> "none");
            store.read("aggregation", () -> "none");
            store.read("join", () -> operators.joinOfSubscriptions(name));
        } else {
            String hidden = program.wrapper == null
                    ? "no operator that fills the store is known to the readers; declare the fact"
                    : "class " + program.wrapper + " wraps the operators and may hide the one that fills the store; "
                            + "declare the fact";
            for (String fact : new String[] {"source_table", "aggregate", "join"}) {
                store.notRead(fact, hidden);
            }
        }
    }
}
