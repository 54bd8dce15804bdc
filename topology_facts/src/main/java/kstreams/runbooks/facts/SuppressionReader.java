package kstreams.runbooks.facts;

import java.util.Map;

/** Reads suppress operators with their buffers. */
final class SuppressionReader {
    private final Program program;
    private final SerdeReader serdes;

    SuppressionReader(Program program, SerdeReader serdes) {
        this.program = program;
        this.serdes = serdes;
    }

    /** Reads one suppression: mode, limits, what a full buffer does, and its buffer. */
    void read(Facts suppression, Program.Node node) {
        Facts.Reading held = () -> Peek.field(node.code, "suppress");
        suppression.read("mode", () -> isFinal(held) ? "until_window_closes" : "until_time_limit");
        suppression.read("time_limit_ms", () -> isFinal(held)
                ? null
                : Peek.call(Peek.field(held.read(), "timeToWaitForMoreEvents"), "toMillis"));
        suppression.read("max_records", () -> limit(buffer(held), "maxRecords"));
        suppression.read("max_bytes", () -> limit(buffer(held), "maxBytes"));
        suppression.read("when_full", () -> whenFull(buffer(held)));
        suppression.read("memory_bytes", () -> memory(buffer(held)));
        String store = node.stores.size() == 1 ? node.stores.iterator().next() : null;
        Object wrapped = store == null ? null : program.stores.get(store);
        suppression.read("store", () -> {
            if (wrapped == null) {
                throw new NotRead("operator " + node.name + " has " + node.stores.size() + " stores (expected 1)");
            }
            return store;
        });
        Facts.Reading builder = () -> StoreReader.unwrapped(program.library, wrapped);
        serdes.key(suppression, () -> Peek.field(builder.read(), "keySerde"));
        serdes.value(suppression, () -> value(builder.read()));
        suppression.read("logging", () -> Peek.flag(builder.read(), "loggingEnabled"));
        suppression.read("logging_config", () -> logConfig(builder.read()));
    }

    private static boolean isFinal(Facts.Reading held) throws Exception {
        return Peek.flag(held.read(), "safeToDropTombstones");
    }

    private static Object buffer(Facts.Reading held) throws Exception {
        return Peek.field(held.read(), "bufferConfig");
    }

    private static Object limit(Object buffer, String field) throws NotRead {
        long limit = Peek.number(buffer, field);
        return limit == Long.MAX_VALUE ? null : limit;
    }

    /** The bytes that the library lets the buffer of one task have, as it counts them. */
    private static long memory(Object buffer) throws NotRead {
        Object bytes = limit(buffer, "maxBytes");
        if (bytes == null) {
            Object records = limit(buffer, "maxRecords");
            throw new NotRead("the buffer of a task has no limit in bytes and "
                    + (records == null ? "none in records" : "one of " + records + " records")
                    + ", and a program does not show their sizes; declare keys, key_bytes and value_bytes");
        }
        return (Long) bytes;
    }

    /** Null for a buffer without limits, which is never full. */
    private Object whenFull(Object buffer) throws NotRead {
        if (limit(buffer, "maxRecords") == null && limit(buffer, "maxBytes") == null) {
            return null;
        }
        if (program.library.known(buffer).endsWith(".EagerBufferConfigImpl")) {
            return "emit_early";
        }
        String strategy = String.valueOf(Peek.field(buffer, "bufferFullStrategy"));
        switch (strategy) {
            case "SHUT_DOWN":
                return "shut_down";
            case "EMIT":
                return "emit_early";
            default:
                throw new NotRead("strategy " + strategy + " of a full buffer is not known; declare when_full");
        }
    }

    private static Object value(Object builder) throws NotRead {
        return Peek.field(builder, Peek.has(builder, "valueSerde") ? "valueSerde" : "valSerde");
    }

    private static Map<?, ?> logConfig(Object builder) throws NotRead {
        return (Map<?, ?>) Peek.call(builder, "logConfig");
    }
}
