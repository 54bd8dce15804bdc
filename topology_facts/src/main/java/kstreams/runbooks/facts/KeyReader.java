package kstreams.runbooks.facts;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** Reads whose keys records have: those of some topics, if every operator on the way from there keeps the key. */
final class KeyReader {
    private static final String INTERNALS = "streams.kstream.internals.";
    private static final Set<String> KEEPING = new HashSet<>(Arrays.asList(
            "KStreamBranch", "KStreamFilter", "KStreamFlatMapValues", "KStreamFlatTransformValues",
            "KStreamGlobalKTableJoin", "KStreamJoinWindow", "KStreamKStreamJoin", "KStreamKStreamJoinLeftSide",
            "KStreamKStreamJoinRightSide", "KStreamKStreamSelfJoin", "KStreamKTableJoin", "KStreamMapValues",
            "KStreamPassThrough", "KStreamPeek", "KStreamPrint", "KStreamTransformValues", "KTableFilter",
            "KTableKTableInnerJoin", "KTableKTableJoinMerger", "KTableKTableLeftJoin", "KTableKTableOuterJoin",
            "KTableKTableRightJoin", "KTableMapValues", "KTablePassThrough", "KTableSource", "KTableTransformValues",
            "PassThrough", "KStreamAggregate", "KStreamReduce", "KTableAggregate", "KTableReduce",
            "suppress.KTableSuppressProcessorSupplier"));
    private static final Set<String> WINDOWING = new HashSet<>(Arrays.asList(
            "KStreamWindowAggregate", "KStreamSlidingWindowAggregate", "KStreamSessionWindowAggregate"));
    private static final String FIXED_KEY = "streams.processor.api.FixedKeyProcessorSupplier";
    private static final Set<String> ANY_KEY = new HashSet<>(Arrays.asList(
            "streams.processor.api.ProcessorSupplier", "streams.processor.ProcessorSupplier"));

    /** A node on the way back, and whether a windowed aggregation follows it. */
    private static final class Step {
        final Program.Node node;
        final boolean windowed;

        Step(Program.Node node, boolean windowed) {
            this.node = node;
            this.windowed = windowed;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Step && ((Step) other).node == node && ((Step) other).windowed == windowed;
        }

        @Override
        public int hashCode() {
            return node.hashCode() + (windowed ? 1 : 0);
        }
    }

    private final Program program;

    KeyReader(Program program) {
        this.program = program;
    }

    /**
     * The topics whose keys the records have that reach some nodes, with "(windowed)" behind an aggregation over
     * windows; NotRead if an operator on the way may give another key.
     */
    Collection<String> before(Collection<Program.Node> nodes) throws NotRead {
        Set<String> topics = new TreeSet<>();
        Set<Step> seen = new HashSet<>();
        Deque<Step> open = new ArrayDeque<>();
        for (Program.Node node : nodes) {
            follow(node.predecessors, false, seen, open);
        }
        while (!open.isEmpty()) {
            Step step = open.remove();
            if (program.isSource(step.node)) {
                readSource(step, topics, seen, open);
            } else {
                readProcessor(step, seen, open);
            }
        }
        if (topics.isEmpty()) {
            throw new NotRead("no topic leads there; declare the key");
        }
        return topics;
    }

    private void follow(Collection<String> names, boolean windowed, Set<Step> seen, Deque<Step> open) {
        for (String name : names) {
            Step step = new Step(program.nodes.get(name), windowed);
            if (seen.add(step)) {
                open.add(step);
            }
        }
    }

    private void readSource(Step step, Set<String> topics, Set<Step> seen, Deque<Step> open) throws NotRead {
        for (Object topic : program.topicsOf(step.node)) {
            for (Program.Node sink : program.writing(Collections.singleton(topic))) {
                follow(sink.predecessors, step.windowed, seen, open);
            }
            if (!program.internalTopics().containsKey(topic)) {
                topics.add(topic + (step.windowed ? " (windowed)" : ""));
            }
        }
    }

    /** Whether an operator gives each record the key that it had. */
    boolean keepsKey(Program.Node node) {
        return program.wrapper == null && (KEEPING.contains(nameOf(node)) || keeps(node));
    }

    private String nameOf(Program.Node node) {
        String known = program.library.known(node.code);
        return known.startsWith(INTERNALS) ? known.substring(INTERNALS.length()) : "";
    }

    private void readProcessor(Step step, Set<Step> seen, Deque<Step> open) throws NotRead {
        Program.Node node = step.node;
        String name = nameOf(node);
        if (name.startsWith("foreignkeyjoin.Response") || name.startsWith("foreignkeyjoin.SubscriptionResolver")) {
            follow(senders(node), step.windowed, seen, open);
        } else if (KEEPING.contains(name) || WINDOWING.contains(name) || keeps(node)) {
            follow(node.predecessors, step.windowed || WINDOWING.contains(name), seen, open);
        } else {
            throw new NotRead("operator " + node.name + " may give each record another key, and its code is not "
                    + "readable; declare the key in words");
        }
    }

    /** Whether the code of the program gets a key that it cannot change; a class of both kinds may be used as either. */
    private boolean keeps(Program.Node node) {
        boolean fixed = node.keepsKey;
        for (Class<?> type = node.code == null ? null : node.code.getClass();
                type != null;
                type = type.getSuperclass()) {
            for (Class<?> face : type.getInterfaces()) {
                String name = program.library.inside(face.getName());
                fixed |= name.equals(FIXED_KEY);
                if (ANY_KEY.contains(name)) {
                    return false;
                }
            }
        }
        return fixed;
    }

    /** What precedes the sender of a foreign-key join: its result has the key of that table. */
    private Collection<String> senders(Program.Node resolver) throws NotRead {
        Set<String> before = new TreeSet<>();
        Set<Step> seen = new HashSet<>();
        Deque<Step> open = new ArrayDeque<>();
        follow(resolver.predecessors, false, seen, open);
        while (!open.isEmpty()) {
            Program.Node node = open.remove().node;
            if (program.isSource(node)) {
                for (Program.Node sink : program.writing(new HashSet<>(program.topicsOf(node)))) {
                    follow(sink.predecessors, false, seen, open);
                }
            } else if (program.library.known(node.code).endsWith("SendProcessorSupplier")) {
                before.addAll(node.predecessors);
            } else if (program.library.known(node.code).contains(".foreignkeyjoin.")) {
                follow(node.predecessors, false, seen, open);
            }
        }
        return before;
    }
}
