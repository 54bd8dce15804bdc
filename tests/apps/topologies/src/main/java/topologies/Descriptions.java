package topologies;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Writes what the library says of each pair to {@code DIRECTORY/<pair>/before.txt} and {@code after.txt}.
 *
 * A pair is a method of a class in {@code topologies.pairs} that returns a {@link Pair}; its name in kebab-case is the
 * pair's. A release builds the pairs that were compiled for it.
 */
public final class Descriptions {
    private final Path directory;

    private Descriptions(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] arguments) throws Exception {
        Descriptions descriptions = new Descriptions(Path.of(arguments[0]));
        for (Class<?> type : types()) {
            Object pairs = type.getConstructor().newInstance();
            for (Method method : type.getMethods()) {
                if (method.getReturnType() == Pair.class) {
                    descriptions.write(kebab(method.getName()), (Pair) method.invoke(pairs));
                }
            }
        }
    }

    private static List<Class<?>> types() throws IOException, URISyntaxException {
        Path classes = Path.of(Descriptions.class.getResource("pairs").toURI());
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

    private void write(String pair, Pair topologies) throws IOException {
        Path folder = Files.createDirectories(directory.resolve(pair));
        Files.writeString(folder.resolve("before.txt"), topologies.before().describe().toString());
        Files.writeString(folder.resolve("after.txt"), topologies.after().describe().toString());
    }
}
