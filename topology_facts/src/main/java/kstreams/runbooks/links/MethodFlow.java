package kstreams.runbooks.links;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;

/** The jumps and handlers of one method: whether it goes on after an error of the JVM at an instruction. */
final class MethodFlow {
    private static final class Handler {
        final Label start;
        final Label end;
        final Label code;
        final String type;

        Handler(Label start, Label end, Label code, String type) {
            this.start = start;
            this.end = end;
            this.code = code;
            this.type = type;
        }
    }

    private static final int OTHER = -1;
    private static final List<String> ANY_ERROR =
            Arrays.asList("java/lang/LinkageError", "java/lang/Error");
    private final List<Integer> codes = new ArrayList<>();
    /** The local variable that an instruction stores or loads, by its place. */
    private final Map<Integer, Integer> variables = new HashMap<>();
    private final Map<Integer, Label[]> jumps = new HashMap<>();
    private final Map<Label, Integer> places = new HashMap<>();
    private final List<Handler> handlers = new ArrayList<>();

    /** The number of the next instruction. */
    int next() {
        return codes.size();
    }

    void instruction(int code, Label... labels) {
        if (labels.length > 0) {
            jumps.put(codes.size(), labels);
        }
        codes.add(code);
    }

    void instruction() {
        codes.add(OTHER);
    }

    void variable(int code, int variable) {
        variables.put(codes.size(), variable);
        codes.add(code);
    }

    void label(Label label) {
        places.put(label, codes.size());
    }

    void handler(Label start, Label end, Label code, String type) {
        handlers.add(new Handler(start, end, code, type));
    }

    /**
     * Whether the method goes on after this error at this instruction: a handler takes it and returns, or repeats a
     * loop. One that throws the same again, as the end of a try with resources does, leads to the handler around it; any
     * other exception only to one of all. `isOwn`: the JVM throws exactly this error, and does not wrap it.
     */
    boolean handles(int instruction, String error, boolean isOwn) {
        BitSet seen = new BitSet();
        Set<Integer> caught = new HashSet<>();
        Deque<Integer> open = new ArrayDeque<>();
        int first = handlerOf(instruction, error, isOwn);
        if (first < 0) {
            return false;
        }
        open.add(first);
        while (!open.isEmpty()) {
            int at = open.remove();
            if (at >= codes.size() || seen.get(at)) {
                continue;
            }
            seen.set(at);
            int code = codes.get(at);
            if (code >= Opcodes.IRETURN && code <= Opcodes.RETURN) {
                return true;
            }
            if (code == Opcodes.ASTORE && isHandler(at)) {
                caught.add(variables.get(at));
            }
            if (code == Opcodes.ATHROW) {
                boolean isSame = codes.get(at - 1) == Opcodes.ALOAD && caught.contains(variables.get(at - 1));
                int outer = handlerOf(at, isSame ? error : "", isSame && isOwn);
                if (outer >= 0) {
                    open.add(outer);
                }
                continue;
            }
            for (Label label : jumps.getOrDefault(at, new Label[0])) {
                int to = places.get(label);
                if (to <= instruction) {
                    return true; // a loop goes on
                }
                open.add(to);
            }
            if (code != Opcodes.GOTO && code != Opcodes.TABLESWITCH && code != Opcodes.LOOKUPSWITCH) {
                open.add(at + 1);
            }
        }
        return false;
    }

    /** The place of the handler that the JVM takes; -1 for none. */
    private int handlerOf(int instruction, String error, boolean isOwn) {
        for (Handler handler : handlers) {
            if (places.get(handler.start) <= instruction && instruction < places.get(handler.end)
                    && takes(handler.type, error, isOwn)) {
                return places.get(handler.code);
            }
        }
        return -1;
    }

    private boolean isHandler(int place) {
        return handlers.stream().anyMatch(handler -> places.get(handler.code) == place);
    }

    /** Without the name of an error: any exception. */
    private static boolean takes(String type, String error, boolean isOwn) {
        if (type == null || type.equals("java/lang/Throwable") || (!error.isEmpty() && ANY_ERROR.contains(type))) {
            return true;
        }
        boolean isChange = !error.equals("NoClassDefFoundError");
        return isOwn && (type.equals("java/lang/" + error)
                || (isChange && type.equals("java/lang/IncompatibleClassChangeError")));
    }
}
