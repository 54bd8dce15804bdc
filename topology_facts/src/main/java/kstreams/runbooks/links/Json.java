package kstreams.runbooks.links;

import java.util.Collection;
import java.util.Map;
import java.util.StringJoiner;

/** Writes maps, lists, text, numbers and flags as JSON. */
final class Json {
    private Json() {}

    static String of(Object value) {
        if (value instanceof Map) {
            StringJoiner pairs = new StringJoiner(", ", "{", "}");
            ((Map<?, ?>) value).forEach((name, of) -> pairs.add(text(name.toString()) + ": " + of(of)));
            return pairs.toString();
        }
        if (value instanceof Collection) {
            StringJoiner items = new StringJoiner(",\n", "[", "]");
            ((Collection<?>) value).forEach(item -> items.add(of(item)));
            return items.toString();
        }
        return value == null || value instanceof Number || value instanceof Boolean
                ? String.valueOf(value)
                : text(value.toString());
    }

    private static String text(String plain) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : plain.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
