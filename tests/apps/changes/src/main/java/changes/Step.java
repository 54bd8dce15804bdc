package changes;

import java.util.ArrayList;
import java.util.List;

/** One operator of a program. Its id stays the same through every edit, its names may change. */
final class Step {
    enum Kind {
        STREAM, TABLE, GLOBAL,
        FILTER, MAP_VALUES, PEEK, SELECT_KEY, MERGE, REPARTITION, THROUGH,
        JOIN_STREAMS, JOIN_TABLE, JOIN_GLOBAL,
        AGGREGATE, TO_TABLE,
        TABLE_FILTER, TABLE_MAP_VALUES, JOIN_TABLES, JOIN_FOREIGN_KEY, TABLE_AGGREGATE, SUPPRESS,
        TO_STREAM, SINK;

        boolean isSource() {
            return this == STREAM || this == TABLE || this == GLOBAL;
        }

        boolean isStateless() {
            return this == FILTER || this == MAP_VALUES || this == PEEK || this == TABLE_FILTER
                    || this == TABLE_MAP_VALUES;
        }

        boolean isJoin() {
            return this == JOIN_STREAMS || this == JOIN_TABLES || this == JOIN_FOREIGN_KEY || this == JOIN_TABLE;
        }

        boolean aggregates() {
            return this == AGGREGATE || this == TABLE_AGGREGATE;
        }

        /** What it gives: a stream, a table, a global table or nothing. */
        char gives() {
            return switch (this) {
                case STREAM, FILTER, MAP_VALUES, PEEK, SELECT_KEY, MERGE, REPARTITION, THROUGH, JOIN_STREAMS,
                        JOIN_TABLE, JOIN_GLOBAL, TO_STREAM -> 's';
                case GLOBAL -> 'g';
                case SINK -> '-';
                default -> 't';
            };
        }

        /** What it takes: a letter for each input. */
        String takes() {
            return switch (this) {
                case STREAM, TABLE, GLOBAL -> "";
                case MERGE, JOIN_STREAMS -> "ss";
                case JOIN_TABLE -> "st";
                case JOIN_GLOBAL -> "sg";
                case JOIN_TABLES, JOIN_FOREIGN_KEY -> "tt";
                case TABLE_FILTER, TABLE_MAP_VALUES, TABLE_AGGREGATE, SUPPRESS, TO_STREAM -> "t";
                default -> "s";
            };
        }
    }

    enum Function { COUNT, REDUCE, AGGREGATE }

    enum Window { NONE, TIME, SESSION }

    enum Join { INNER, LEFT, OUTER }

    final int id;
    Kind kind;
    List<Integer> inputs;
    /** Chosen names; null for one that the library generates. */
    String name;
    String store;
    String grouped;
    /** What the records are keyed by behind it; null for a grouping by the key as it is. */
    String key;
    String topic;
    Function function = Function.COUNT;
    Window window = Window.NONE;
    int minutes = 60;
    Join join = Join.INNER;
    /** Whether the two sides of a join have changed places, counted from the first program. */
    boolean swapped;

    Step(int id, Kind kind, List<Integer> inputs) {
        this.id = id;
        this.kind = kind;
        this.inputs = new ArrayList<>(inputs);
    }

    Step copy() {
        Step made = new Step(id, kind, inputs);
        made.name = name;
        made.store = store;
        made.grouped = grouped;
        made.key = key;
        made.topic = topic;
        made.function = function;
        made.window = window;
        made.minutes = minutes;
        made.join = join;
        made.swapped = swapped;
        return made;
    }

    @Override
    public String toString() {
        return kind.name().toLowerCase().replace('_', '-') + " #" + id;
    }
}
