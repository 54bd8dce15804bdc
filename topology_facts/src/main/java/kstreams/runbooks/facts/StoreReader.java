package kstreams.runbooks.facts;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
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
        /** The records that a join of a stream with a table keeps for its grace. */
        HELD_STREAM,
        /** The buffer of a suppression: its facts are those of the suppression. */
        SUPPRESSION
    }

    private static final class Row {
        final Shape shape;
        final String kind;
        /** Whether a value is kept with its timestamp; null if the release chooses that, not the program. */
        final Boolean timestamped;

        Row(Shape shape, String kind, Boolean timestamped) {
            this.shape = shape;
            this.kind = kind;
            this.timestamped = timestamped;
        }
    }

    private static final String STATE = "streams.state.internals.";
    private static final String KSTREAM = "streams.kstream.internals.";
    private static final Map<String, Row> ROWS = new HashMap<>();

    static {
        rows(Shape.BUILDER, "key_value", false, STATE + "KeyValueStoreBuilder");
        rows(Shape.BUILDER, "key_value", true, STATE + "TimestampedKeyValueStoreBuilder",
                STATE + "TimestampedKeyValueStoreBuilderWithHeaders");
        rows(Shape.BUILDER, "window", false, STATE + "WindowStoreBuilder");
        rows(Shape.BUILDER, "window", true, STATE + "TimestampedWindowStoreBuilder",
                STATE + "TimestampedWindowStoreWithHeadersBuilder");
        rows(Shape.BUILDER, "session", false, STATE + "SessionStoreBuilder", STATE + "SessionStoreWithHeadersBuilder");
        rows(Shape.BUILDER, "versioned", false, STATE + "VersionedKeyValueStoreBuilder");
        rows(Shape.BUILDER, "join", false, STATE + "ListValueStoreBuilder");
        rows(Shape.MATERIALIZED, "key_value", true, KSTREAM + "KeyValueStoreMaterializer",
                KSTREAM + "TimestampedKeyValueStoreMaterializer");
        rows(Shape.MATERIALIZED, "window", true, KSTREAM + "WindowStoreMaterializer",
                KSTREAM + "SlidingWindowStoreMaterializer");
        rows(Shape.MATERIALIZED, "session", false, KSTREAM + "SessionStoreMaterializer");
        rows(Shape.JOINED, "join", null, KSTREAM + "StreamJoinedStoreFactory", KSTREAM + "OuterStreamJoinStoreFactory");
        rows(Shape.SUBSCRIPTION, "key_value", true, KSTREAM + "SubscriptionStoreFactory");
        rows(Shape.HELD_STREAM, "buffer", false, STATE + "RocksDBTimeOrderedKeyValueBuffer$Builder");
        rows(Shape.SUPPRESSION, "", null, STATE + "InMemoryTimeOrderedKeyValueBuffer$Builder",
                STATE + "InMemoryTimeOrderedKeyValueChangeBuffer$Builder");
    }

    private final Program program;
    private final SerdeReader serdes;
    private final OperatorReader operators;
    private final WindowReader windows;
    private final FormatReader formats;
    private final Map<String, List<Program.Node>> filledBy = new TreeMap<>();

    StoreReader(Program program, Settings settings, SerdeReader serdes, OperatorReader operators) throws NotRead {
        this.program = program;
        this.formats = new FormatReader(program.library, settings);
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

    private static void rows(Shape shape, String kind, Boolean timestamped, String... types) {
        for (String type : types) {
            ROWS.put(type, new Row(shape, kind, timestamped));
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
            if (program.library.known(builder).isEmpty()) {
                readOwnBuilder(stores.at(name), builder, global);
            }
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
        store.read("timestamped", () -> isTimestamped(row, builder));
        switch (row.shape) {
            case BUILDER:
                readBuilder(store, builder, row.kind);
                if (joins || row.kind.equals("join")) {
                    operators.readJoinWindow(store.at("window"), name, () -> FormatReader.keptBeyondWindow(builder));
                }
                break;
            case MATERIALIZED:
                readMaterialized(store, builder);
                readFormat(store, builder, row.kind, () -> materialized(builder, "storeSupplier"));
                break;
            case JOINED:
                readJoined(store, builder);
                break;
            case HELD_STREAM:
                serdes.key(store, () -> Peek.field(builder, "keySerde"));
                serdes.value(store, () -> Peek.field(builder, "valueSerde"));
                FormatReader.readMadeByLibrary(store, builder);
                store.read("headers", () -> false);
                break;
            default:
                // The factory builds the store with these two; those of both tables are in its topics.
                serdes.key(store, () -> bytes());
                serdes.value(store, () -> Peek.call(Peek.field(builder, "subscriptionWrapperSerde"), "serializer"));
                FormatReader.readMadeByLibrary(store, builder);
                store.read("headers", () -> formats.hasHeaders(builder, null));
        }
        if (!global) {
            readSourceChangelog(store, name);
        }
        store.read("key_of", () -> keyOf(name, filling));
        store.read("filled_by", () -> names(filling));
        if (!filling.isEmpty()) {
            operators.readStore(store, filling.get(0));
        } else {
            readUnfilled(store, name);
            if (row.kind.equals("window") || row.kind.equals("session")) {
                store.notRead("window", "no operator that fills the store is known to the readers; declare the window");
            }
        }
    }

    /** A builder of the program: it says that logging is on, and the class of its store writes the changelog or not. */
    private static void readOwnBuilder(Facts store, Object builder, boolean global) {
        store.read("global", () -> global);
        store.read("supplier", () -> Library.lastingName(builder));
        store.notRead("logging", "class " + Peek.nameOf(builder) + " of the program makes the store, and only its code "
                + "shows whether the store writes each change to its changelog; declare it");
    }

    private static boolean isTimestamped(Row row, Object builder) throws NotRead {
        if (row.timestamped == null) {
            throw new NotRead("each release of the library chooses the format of the store of a stream-stream join; the "
                    + "program has no say in it");
        }
        if (!row.timestamped || kind(row, builder).equals("versioned")) {
            return false;
        }
        return row.shape == Shape.BUILDER
                ? !FormatReader.isPlain(Peek.field(builder, "storeSupplier"))
                : row.shape != Shape.MATERIALIZED || !FormatReader.isPlain(materialized(builder, "storeSupplier"));
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
        serdes.value(store, () -> Peek.field(builder, "valueSerde"));
        store.read("logging", () -> Peek.flag(builder, "enableLogging"));
        store.read("logging_config", () -> Peek.map(builder, "logConfig"));
        store.read("caching", () -> Peek.flag(builder, "enableCaching"));
        readSupplier(store, () -> Peek.field(builder, "storeSupplier"), kind);
        readFormat(store, builder, kind, () -> Peek.field(builder, "storeSupplier"));
        store.read("builder_format", () -> formats.formatOfBuilder(builder));
        store.read("supplier_format", () -> formats.formatOf(Peek.field(builder, "storeSupplier")));
    }

    private void readMaterialized(Facts store, Object factory) {
        serdes.key(store, () -> materialized(factory, "keySerde"));
        serdes.value(store, () -> materialized(factory, "valueSerde"));
        store.read("logging", () -> materialized(factory, "loggingEnabled"));
        store.read("logging_config", () -> materialized(factory, "topicConfig"));
        store.read("caching", () -> (Boolean) materialized(factory, "cachingEnabled")
                && !finalOnly(factory)
                && !(Boolean) Peek.call(factory, "isVersionedStore"));
        readSupplier(store, () -> suppliedFor(Peek.field(factory, "materialized")), "");
        store.read("retention_ms", () -> keepsWindows(factory) ? retention(factory) : null);
        store.read("history_retention_ms", () -> (Boolean) Peek.call(factory, "isVersionedStore")
                ? Peek.call(factory, "historyRetention")
                : null);
    }

    private void readFormat(Facts store, Object builder, String kind, Facts.Reading supplier) {
        store.read("headers", () -> formats.hasHeaders(builder, supplier.read()));
        if (kind.equals("window")) {
            FormatReader.readDuplicates(store, supplier, false);
        }
    }

    private static Object suppliedFor(Object materialized) throws NotRead {
        return firstOf(Peek.field(materialized, "storeSupplier"), materialized);
    }

    /** What the program gives for one store, else for the type of its stores (KIP-591); null without both. */
    private static Object firstOf(Object supplier, Object given) throws NotRead {
        return supplier == null ? Peek.fieldOrNull(given, "dslStoreSuppliers") : supplier;
    }

    private boolean keepsWindows(Object factory) throws NotRead {
        return (Boolean) Peek.call(factory, "isWindowStore")
                || program.library.known(factory).endsWith("SessionStoreMaterializer");
    }

    /** A supplier of the program keeps what it keeps; the factory has the time without one. */
    private static Object retention(Object factory) throws NotRead {
        Object supplier = materialized(factory, "storeSupplier");
        if (supplier != null && materialized(factory, "retention") != null) {
            throw new NotRead("the store has a supplier and withRetention, of which the library takes one for its"
                    + " changelog; remove withRetention");
        }
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
        if (Peek.has(factory, "valueSerde")) {
            serdes.key(store, () -> Peek.field(joined.read(), "keySerde"));
            serdes.value(store, () -> Peek.field(factory, "valueSerde"));
        } else {
            // The factory wraps the serdes of both sides when it builds the store, as earlier releases did at once.
            serdes.key(store, () -> wrapping("TimestampedKeyAndJoinSideSerde", Peek.field(joined.read(), "keySerde")));
            serdes.value(store, () -> wrapping("LeftOrRightValueSerde",
                    Peek.field(joined.read(), "valueSerde"), Peek.field(joined.read(), "otherValueSerde")));
        }
        store.read("logging", () -> Peek.flag(factory, "loggingEnabled"));
        store.read("logging_config", () -> Peek.call(factory, "logConfig"));
        store.read("caching", () -> false);
        store.read("retention_ms", () -> Peek.call(factory, "retentionPeriod"));
        readSupplier(store, () -> suppliedForJoin(factory, joined.read()), "");
        boolean ofOneSide = Peek.has(factory, "storeSupplier");
        store.read("headers", () -> ofOneSide && formats.hasHeaders(factory, Peek.field(factory, "storeSupplier")));
        if (ofOneSide) {
            // The library accepts no supplier here that keeps one record of a key and a time.
            store.read("retain_duplicates", () -> true);
        }
        try {
            windows.read(store, Peek.field(factory, "windows"), null);
        } catch (NotRead reason) {
            store.notRead("window", reason.getMessage());
        }
    }

    /** A supplier of one side, or of the type of all stores; the outer store of a join has no supplier of its own. */
    private static Object suppliedForJoin(Object factory, Object joined) throws NotRead {
        if (Peek.has(factory, "storeSupplier")) {
            return firstOf(Peek.field(factory, "storeSupplier"), joined);
        }
        if (Peek.field(joined, "thisStoreSupplier") != null) {
            throw new NotRead("the library chooses the outer store of a join by the supplier of the join's other stores; "
                    + "read those");
        }
        return Peek.fieldOrNull(joined, "dslStoreSuppliers");
    }

    private void readSupplier(Facts store, Facts.Reading supplier, String kind) {
        store.read("supplier", () -> {
            Object found = supplier.read();
            return found == null ? null : formats.supplierName(found);
        });
        if (kind.equals("window") || kind.equals("session")) {
            store.read("retention_ms", () -> Peek.call(supplier.read(), "retentionPeriod"));
        }
        store.read("supplier_window_ms", () -> FormatReader.windowOf(supplier.read()));
        if (kind.equals("versioned")) {
            store.read("history_retention_ms", () -> Peek.call(supplier.read(), "historyRetentionMs"));
        }
    }

    private static Collection<String> names(List<Program.Node> nodes) {
        List<String> names = new ArrayList<>();
        nodes.forEach(node -> names.add(node.name));
        Collections.sort(names);
        return names;
    }

    /** A serde of the library around others, of which null is the default of the settings. */
    private Object wrapping(String type, Object... inner) throws ReflectiveOperationException {
        return program.library.type(STATE + type).getConstructors()[0].newInstance(inner);
    }

    private Object bytes() throws ReflectiveOperationException {
        return program.library.type("common.serialization.Serdes$BytesSerde").getConstructor().newInstance();
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
            inner &= type.contains(".foreignkeyjoin.")
                    || operators.role(user) == OperatorReader.Role.STREAM_JOIN
                    || operators.role(user) == OperatorReader.Role.LOOKUP;
        }
        String reason = "a processor of the program fills the store, and its code is not readable; declare the fact";
        if (own && program.wrapper == null) {
            store.read("made_by", () -> "processor");
            store.read("source_table", () -> false);
            store.notRead("aggregate", reason);
            store.notRead("aggregation", reason);
            store.read("join", () -> null);
        } else if (inner) {
            store.read("made_by", () -> "join");
            store.read("source_table", () -> false);
            store.read("aggregate", () -> "none");
            store.read("aggregation", () -> "none");
            store.read("join", () -> operators.joinOfSubscriptions(name));
        } else {
            String hidden = program.wrapper == null
                    ? "no operator that fills the store is known to the readers; declare the fact"
                    : "class " + program.wrapper + " wraps the operators and may hide the one that fills the store; "
                            + "declare the fact";
            for (String fact : new String[] {"made_by", "source_table", "aggregate", "aggregation", "join"}) {
                store.notRead(fact, hidden);
            }
        }
    }
}
