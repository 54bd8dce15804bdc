package changes;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.streams.errors.TopologyException;

/**
 * Prints random changes and the ways back with what they do, one JSON document a line.
 *
 * <pre>changes.Changes SEED FIRST COUNT</pre>
 *
 * Change N of a seed is the same whichever others are drawn.
 */
public final class Changes {
    private static final int TRIES = 200;
    private static final int MOST_EDITS = 3;
    private static final long STRIDE = 0x9E3779B97F4A7C15L; // neighbouring seeds of Random begin alike

    private Changes() {}

    public static void main(String[] arguments) {
        long seed = Long.parseLong(arguments[0]);
        int first = Integer.parseInt(arguments[1]);
        int count = Integer.parseInt(arguments[2]);
        for (int number = first; number < first + count; number++) {
            for (Map<String, Object> change : change(seed, number)) {
                System.out.println(Json.of(change));
            }
        }
    }

    /** The change, and the way back if what it leads to starts. */
    private static List<Map<String, Object>> change(long seed, int number) {
        Random random = new Random((seed * STRIDE + number) * STRIDE);
        for (int tries = 0; tries < TRIES; tries++) {
            Built before = valid(Draw.program(random));
            if (before == null) {
                continue;
            }
            Program edited = before.program.copy();
            List<String> kinds = new ArrayList<>();
            List<String> edits = new ArrayList<>();
            edit(edited, random, kinds, edits);
            Built after = built(edited);
            if (after == null || kinds.isEmpty()) {
                continue;
            }
            Map<String, Object> there = document(number, kinds, edits, before, after, false);
            boolean starts = after.refused.isEmpty() && Truth.uneven(after).isEmpty();
            return starts ? List.of(there, document(number, kinds, edits, after, before, true)) : List.of(there);
        }
        throw new IllegalStateException("no change came of " + TRIES + " programs: seed " + seed + ", " + number);
    }

    private static Map<String, Object> document(
            int number, List<String> kinds, List<String> edits, Built before, Built after, boolean back) {
        Map<String, Object> made = new LinkedHashMap<>();
        made.put("number", number);
        made.put("back", back);
        made.put("kinds", kinds);
        made.put("edits", edits);
        made.put("before", before.text);
        made.put("after", after.text);
        made.put("declared_before", Declared.of(before));
        made.put("declared_after", Declared.of(after));
        Map<String, Integer> cluster = new TreeMap<>(after.program.partitions);
        cluster.putAll(before.partitions);
        made.put("cluster", cluster);
        made.put("truth", new Truth(before, after).document());
        return made;
    }

    /** One edit in most changes, up to three in some. */
    private static void edit(Program program, Random random, List<String> kinds, List<String> edits) {
        TreeMap<String, Function<Edits, String>> all = Edits.all();
        List<String> names = List.copyOf(all.keySet());
        int wanted = random.nextInt(5) < 3 ? 1 : 2 + random.nextInt(MOST_EDITS - 1);
        for (int tries = 0; tries < TRIES && edits.size() < wanted; tries++) {
            String name = names.get(random.nextInt(names.size()));
            String done = all.get(name).apply(new Edits(program, random));
            if (done != null) {
                kinds.add(name);
                edits.add(name + ": " + done);
            }
        }
    }

    /** A program that starts and counts right; null for any other, and for half of those that keep nothing. */
    private static Built valid(Program program) {
        Built built = built(program);
        boolean right = built != null && built.refused.isEmpty() && Truth.uneven(built).isEmpty();
        return right && (!built.stores.isEmpty() || program.next % 2 == 0) ? built : null;
    }

    /** Null for a program that the library refuses to build. */
    private static Built built(Program program) {
        try {
            return program.steps.isEmpty() ? null : new Built(program);
        } catch (TopologyException refused) {
            return null;
        }
    }
}
