package kstreams.runbooks.facts;

/** Reads what a supplier decides of its store, or the library without one: headers, timestamps, duplicates. */
final class FormatReader {
    private static final String HEADERS = "HEADERS";
    private final Library library;
    private final Settings settings;

    FormatReader(Library library, Settings settings) {
        this.library = library;
        this.settings = settings;
    }

    /** Whether the files have the headers of records: a supplier decides it, and without one the settings (KIP-1285). */
    boolean hasHeaders(Object factory, Object supplier) throws NotRead {
        if (supplier != null) {
            return isOfHeaders(supplier);
        }
        if (library.isBefore(4, 3) || !isSet(factory)) {
            return false;
        }
        Object makes = Peek.fieldOrNull(factory, "dslStoreSuppliers");
        Object byDefault = settings.parsed("dsl.store.suppliers.class");
        if (makes != null ? library.known(makes).isEmpty() : byDefault != null && isOwn(byDefault)) {
            throw new NotRead("a class of the program makes the stores of the DSL, and whether they have the headers of "
                    + "dsl.store.format is not readable; declare the fact manually");
        }
        return true;
    }

    /** Whether a supplier of the library makes files without timestamps, also under a builder that keeps them. */
    static boolean isPlain(Object supplier) throws NotRead {
        if (Peek.has(supplier, "returnTimestampedStore")) {
            return !Peek.flag(supplier, "returnTimestampedStore");
        }
        return Peek.nameOf(supplier).endsWith(".RocksDbWindowBytesStoreSupplier")
                && "DEFAULT_WINDOW_STORE".equals(String.valueOf(Peek.field(supplier, "windowStoreType")));
    }

    /**
     * What the store of a supplier keeps with each value, whatever its builder reads: {@code plain}, {@code timestamped} or
     * {@code headers}; null if it fits any builder, as one in memory does, or is not of the library.
     */
    String formatOf(Object supplier) throws NotRead {
        String name = library.known(supplier);
        if (isOfHeaders(supplier)) {
            return "headers";
        }
        if (Peek.has(supplier, "returnTimestampedStore")) {
            return Peek.flag(supplier, "returnTimestampedStore") ? "timestamped" : "plain";
        }
        if (name.endsWith(".RocksDbWindowBytesStoreSupplier")) {
            String type = String.valueOf(Peek.field(supplier, "windowStoreType"));
            return type.endsWith("WITH_HEADERS") ? "headers" : type.startsWith("TIMESTAMPED") ? "timestamped" : "plain";
        }
        return name.endsWith(".RocksDbSessionBytesStoreSupplier") ? "plain" : null;
    }

    /** What a builder of the library reads with each value; null for one that a supplier of another format never has. */
    String formatOfBuilder(Object builder) {
        String name = library.known(builder);
        if (name.contains("WithHeaders")) {
            return "headers";
        }
        if (name.matches(".*\\.Timestamped(KeyValue|Window)StoreBuilder")) {
            return "timestamped";
        }
        return name.matches(".*\\.(KeyValue|Window|Session)StoreBuilder") ? "plain" : null;
    }

    /** What the program may set of a store that has no supplier and no cache. */
    static void readMadeByLibrary(Facts store, Object builder) {
        store.read("logging", () -> Peek.flag(builder, "loggingEnabled"));
        store.read("logging_config", () -> Peek.map(builder, "logConfig"));
        store.read("caching", () -> false);
        store.read("supplier", () -> null);
    }

    /** Whether a window keeps each record of a key and a time; {@code byLibrary} without a supplier of the program. */
    static void readDuplicates(Facts store, Facts.Reading supplier, boolean byLibrary) {
        store.read("retain_duplicates", () -> {
            Object given = supplier.read();
            return given == null ? byLibrary : Peek.call(given, "retainDuplicates");
        });
    }

    /** The length by which a supplier of windows ends them, next to that of the operator; null for any other supplier. */
    static Object windowOf(Object supplier) throws NotRead {
        boolean ofWindows = supplier != null
                && Peek.hasMethod(supplier, "windowSize")
                && Peek.hasMethod(supplier, "retentionPeriod");
        return ofWindows ? Peek.call(supplier, "windowSize") : null;
    }

    /** The library accepts only a supplier that keeps exactly the window of a join and its grace. */
    static long keptBeyondWindow(Object builder) throws NotRead {
        Object supplier = Peek.field(builder, "storeSupplier");
        return (Long) Peek.call(supplier, "retentionPeriod") - (Long) Peek.call(supplier, "windowSize");
    }

    /** The class with the state of its object. An LRU map has none with a name of its own: its limit decides. */
    String supplierName(Object supplier) throws NotRead {
        return Peek.has(supplier, "val$maxCacheSize")
                ? "lru_map(max_entries=" + Peek.field(supplier, "val$maxCacheSize") + ")"
                : new StateReader(library).name(supplier);
    }

    /** KafkaStreams gives its factories the setting; before it is made, the settings have it. */
    private boolean isSet(Object factory) throws NotRead {
        Object given = Peek.fieldOrNull(factory, "dslStoreFormatOverwrite");
        if (given == null && !settings.areGiven()) {
            throw new NotRead("dsl.store.format decides it, and no settings were given; give them");
        }
        return HEADERS.equalsIgnoreCase(String.valueOf(given == null ? settings.parsed("dsl.store.format") : given));
    }

    private boolean isOfHeaders(Object supplier) {
        try {
            return library.type("streams.state.HeadersBytesStoreSupplier").isInstance(supplier);
        } catch (ClassNotFoundException earlier) {
            return false; // a release before 4.3
        }
    }

    private boolean isOwn(Object type) {
        return library.inside(type instanceof Class ? ((Class<?>) type).getName() : type.toString()).isEmpty();
    }
}
