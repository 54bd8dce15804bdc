package topologies;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The pairs that were compiled for a release.
 *
 * A pair is a method of a class in {@code topologies.pairs} that returns a {@link Pair}; its name in kebab-case is the
 * pair's.
 */
public final class Pairs {
    /** Builds a pair. */
    public interface Builder {
        Pair build() throws ReflectiveOperationException;
    }

    private Pairs() {}

    /** All of them by name; none is built yet. */
    public static Map<String, Builder> byName() throws IOException, URISyntaxException, ReflectiveOperationException {
        return byName(types());
    }

    /** Those of some classes. */
    public static Map<String, Builder> byName(List<Class<?>> types) throws ReflectiveOperationException {
        Map<String, Builder> found = new TreeMap<>();
        for (Class<?> type : types) {
            Object pairs = type.getConstructor().newInstance();
            for (Method method : type.getMethods()) {
                if (method.getReturnType() == Pair.class) {
                    found.put(kebab(method.getName()), () -> (Pair) method.invoke(pairs));
                }
            }
        }
        return found;
    }

    private static List<Class<?>> types() throws IOException, URISyntaxException {
        Path classes = Path.of(Pairs.class.getResource("pairs").toURI());
        try (Stream<Path> files = Files.list(classes)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class") && !name.contains("$"))
                    .sorted()
                    .<Class<?>>map(name -> type("topologies.pairs." + name.replace(".class", "")))
                    .filter(type -> Modifier.isPublic(type.getModifiers()))
                    .toList();
        }
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException gone) {
            throw new IllegalStateException(gone);
        }
    }

    private static String kebab(String camel) {
        return camel.replaceAll("([A-Z]|[0-9]+)", "-$1").toLowerCase();
    }
}
