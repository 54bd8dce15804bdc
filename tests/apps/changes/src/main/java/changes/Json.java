package changes;

import java.util.Map;
import java.util.StringJoiner;

/** Values as JSON. */
final class Json {
    private Json() {}

    static String of(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof Map<?, ?> map) {
            StringJoiner made = new StringJoiner(", ", "{", "}");
            map.forEach((key, one) -> made.add(text(key.toString()) + ": " + of(one)));
            return made.toString();
        }
        if (value instanceof Iterable<?> list) {
            StringJoiner made = new StringJoiner(", ", "[", "]");
            list.forEach(one -> made.add(of(one)));
            return made.toString();
        }
        return text(value.toString());
    }

    private static String text(String value) {
        StringBuilder made = new StringBuilder("\"");
        for (char one : value.toCharArray()) {
            switch (one) {
                case '"' -> made.append("\\\"");
                case '\\' -> made.append("\\\\");
                case '\n' -> made.append("\\n");
                default -> made.append(one < ' ' ? String.format("\\u%04x", (int) one) : one);
            }
        }
        return made.append('"').toString();
    }
}
