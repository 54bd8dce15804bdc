package kstreams.runbooks.facts;

import java.util.Collection;
import java.util.Map;

/**
 * Writes maps, lists, text, numbers and flags as YAML. Text is quoted as in JSON: no text can become another type. Text
 * of several lines is a literal block, and what is inside a subject is on one line.
 */
final class Yaml {
    private static final String PLAIN = "[a-z][a-z_]*";
    // Words that YAML 1.1 reads as a flag or as null.
    private static final String OTHER_TYPE = "true|false|null|yes|no|on|off|y|n";
    private static final String LINES = "[!-~][ -~]*\n[ -~\n]*";
    // The document has sections, a section has subjects, a subject has facts.
    private static final int FACT = 2;
    private final StringBuilder text = new StringBuilder();

    private Yaml() {}

    /** A document of a map. */
    static String of(Map<String, Object> document) {
        Yaml yaml = new Yaml();
        yaml.block(document, 0);
        return yaml.text.toString();
    }

    private void block(Map<?, ?> map, int depth) {
        map.forEach((name, value) -> {
            indent(depth);
            key(name);
            text.append(':');
            value(value, depth);
        });
    }

    private void value(Object value, int depth) {
        if (depth < FACT && value instanceof Map && !((Map<?, ?>) value).isEmpty()) {
            text.append('\n');
            block((Map<?, ?>) value, depth + 1);
        } else if (depth == 0 && value instanceof Collection && !((Collection<?>) value).isEmpty()) {
            text.append('\n');
            for (Object item : (Collection<?>) value) {
                text.append("  - ");
                flow(item);
                text.append('\n');
            }
        } else if (depth == 0 && value instanceof String && ((String) value).matches(LINES)) {
            literal((String) value);
        } else {
            text.append(' ');
            flow(value);
            text.append('\n');
        }
    }

    private void literal(String lines) {
        text.append(" |\n");
        for (String line : lines.trim().split("\n")) {
            text.append(line.isEmpty() ? "" : "  ").append(line).append('\n');
        }
    }

    private void flow(Object value) {
        if (value instanceof Map) {
            text.append('{');
            String comma = "";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                text.append(comma);
                key(entry.getKey());
                text.append(": ");
                flow(entry.getValue());
                comma = ", ";
            }
            text.append('}');
        } else if (value instanceof Collection) {
            text.append('[');
            String comma = "";
            for (Object item : (Collection<?>) value) {
                text.append(comma);
                flow(item);
                comma = ", ";
            }
            text.append(']');
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            text.append(value);
        } else {
            quoted(value.toString());
        }
    }

    private void key(Object name) {
        String plain = name.toString();
        if (plain.matches(PLAIN) && !plain.matches(OTHER_TYPE)) {
            text.append(plain);
        } else {
            quoted(plain);
        }
    }

    private void quoted(String plain) {
        text.append('"');
        plain.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                text.append('\\').appendCodePoint(c);
            } else if (c < ' ' || c > '~') {
                text.append(String.format(c > 0xffff ? "\\U%08x" : "\\u%04x", c));
            } else {
                text.appendCodePoint(c);
            }
        });
        text.append('"');
    }

    private void indent(int depth) {
        for (int step = 0; step < depth; step++) {
            text.append("  ");
        }
    }
}
