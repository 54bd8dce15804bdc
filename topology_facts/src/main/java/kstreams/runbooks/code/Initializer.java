package kstreams.runbooks.code;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The static initializer of a class in parts: each one ends where it fills a static field. So a field counts without what
 * fills the others. An initializer whose parts hang together, by a variable or a jump, is one part.
 */
final class Initializer {
    private static final String SWITCH_MAP = "$SwitchMap$";
    private final MethodCode whole;
    private final List<MethodCode> parts;

    /** {@code whole} is null for a class without one. */
    Initializer(MethodCode whole) {
        this.whole = whole;
        this.parts = whole == null ? Collections.emptyList() : whole.parts();
    }

    /** The parts that fill a field, or use it. */
    List<MethodCode> of(String field) {
        if (whole == null || parts.size() == 1) {
            return parts;
        }
        List<MethodCode> found = new ArrayList<>();
        for (MethodCode part : parts) {
            if (field.equals(part.fills) || part.refs.stream().anyMatch(ref -> ref.kind == Ref.Kind.READ_STATIC
                    && ref.owner.equals(whole.owner) && ref.name.equals(field))) {
                found.add(part);
            }
        }
        return found;
    }

    /** All of it. */
    List<MethodCode> all() {
        return parts;
    }

    /** Whether a field has the numbers that the compiler gives to the constants of an enum in a switch. */
    static boolean isSwitchMap(ClassCode.Field field) {
        return field.name.startsWith(SWITCH_MAP) && field.is(org.objectweb.asm.Opcodes.ACC_SYNTHETIC);
    }

    /**
     * The number of each constant in the switches over one enum, by the class and the name of the constant. Empty if the
     * instructions are not those of the compiler.
     */
    Map<String, String> numbers(String field) {
        List<String> body = new ArrayList<>(whole.body);
        body.removeIf(token -> token.matches("(at|to|try|j\\d+)( .*)?|access .*"));
        Map<String, String> found = new LinkedHashMap<>();
        int stores = 0;
        int known = 0;
        for (int at = 0; at < body.size(); at++) {
            stores += body.get(at).equals("i79") ? 1 : 0;
            boolean isEntry = at + 4 < body.size() && body.get(at).matches("f178 \\S+\\.\\$SwitchMap\\$\\S+ \\[I")
                    && body.get(at + 1).startsWith("f178 ") && body.get(at + 2).endsWith(".ordinal()I")
                    && body.get(at + 3).matches("i\\d+( \\d+)?") && body.get(at + 4).equals("i79");
            if (isEntry) {
                known++;
                if (body.get(at).contains("." + field + " ")) {
                    found.put(body.get(at + 1), body.get(at + 3));
                }
            }
        }
        return stores == known ? found : Collections.emptyMap();
    }
}
