import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Prints the settings of releases: one line each, with tabs between release, part (streams, consumer,
 * producer, admin), name, type, default ("-" for none), check, "deprecated" or nothing, and importance.
 *
 * Arguments are folders, each named after a release, with its jars. Everything is read by reflection, because old releases
 * have no public configDef(). A part that a release does not have, or does not let read, is a line on stderr.
 */
public class Settings {
    private static final Map<String, String> PARTS = new TreeMap<>(Map.of(
        "streams", "org.apache.kafka.streams.StreamsConfig",
        "consumer", "org.apache.kafka.clients.consumer.ConsumerConfig",
        "producer", "org.apache.kafka.clients.producer.ProducerConfig",
        "admin", "org.apache.kafka.clients.admin.AdminClientConfig"));

    public static void main(final String[] folders) throws IOException {
        for (final String folder : folders) {
            try (URLClassLoader release = of(new File(folder))) {
                Thread.currentThread().setContextClassLoader(release); // where a release looks for the classes of its defaults
                for (final Map.Entry<String, String> part : PARTS.entrySet()) {
                    try {
                        print(new File(folder).getName(), part.getKey(), part.getValue(), release);
                    } catch (final ReflectiveOperationException | LinkageError unreadable) {
                        System.err.println(new File(folder).getName() + " has no readable " + part.getValue() + ": "
                            + unreadable);
                    }
                }
            }
        }
    }

    private static URLClassLoader of(final File folder) throws IOException {
        final List<URL> jars = new ArrayList<>();
        for (final File jar : folder.listFiles()) {
            jars.add(jar.toURI().toURL());
        }
        return new URLClassLoader(jars.toArray(new URL[0]), Settings.class.getClassLoader());
    }

    private static void print(final String release, final String part, final String of, final ClassLoader loader)
        throws ReflectiveOperationException {
        final Class<?> config = Class.forName(of, true, loader);
        final Object definition = read(config, null, "CONFIG");
        final Object none = read(definition.getClass(), null, "NO_DEFAULT_VALUE");
        final Map<?, ?> overrides = part.equals("streams") ? Map.of() : overrides(part, loader);
        final Set<String> deprecated = deprecated(config);
        for (final Map.Entry<?, ?> entry : new TreeMap<>((Map<?, ?>) read(definition.getClass(), definition, "configKeys"))
            .entrySet()) {
            final String name = (String) entry.getKey();
            final Object key = entry.getValue();
            Object standard = read(key.getClass(), key, "defaultValue");
            standard = standard == none ? "-" : text(standard);
            if (overrides.containsKey(name)) {
                standard = text(overrides.get(name));
            }
            final String documentation = String.valueOf(read(key.getClass(), key, "documentation"));
            final boolean old = deprecated.contains(name) || documentation.startsWith("Deprecated")
                || documentation.contains("[DEPRECATED]") || documentation.contains("(DEPRECATED)");
            System.out.println(String.join("\t", release, part, name, text(read(key.getClass(), key, "type")).toLowerCase(),
                (String) standard, check(read(key.getClass(), key, "validator")), old ? "deprecated" : "",
                text(read(key.getClass(), key, "importance")).toLowerCase()));
        }
    }

    /** The defaults that Kafka Streams gives its own clients. */
    private static Map<?, ?> overrides(final String part, final ClassLoader loader) throws ReflectiveOperationException {
        final Class<?> streams = Class.forName("org.apache.kafka.streams.StreamsConfig", true, loader);
        for (final Field field : streams.getDeclaredFields()) {
            if (field.getName().contains(part.toUpperCase() + "_") && field.getName().contains("DEFAULT")
                && field.getType() == Map.class) {
                field.setAccessible(true);
                return (Map<?, ?>) field.get(null);
            }
        }
        return Map.of();
    }

    /** Values of the public constants that are marked as deprecated. */
    private static Set<String> deprecated(final Class<?> config) throws ReflectiveOperationException {
        final Set<String> found = new HashSet<>();
        for (final Field field : config.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class
                && field.isAnnotationPresent(Deprecated.class) && field.getName().endsWith("_CONFIG")) {
                found.add((String) field.get(null));
            }
        }
        return found;
    }

    private static Object read(final Class<?> of, final Object object, final String name)
        throws ReflectiveOperationException {
        final Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    /** The class of a check and its own text, without the address of an object. */
    private static String check(final Object validator) {
        if (validator == null) {
            return "";
        }
        final String said = text(validator);
        return validator.getClass().getSimpleName().replaceAll("\\$\\$Lambda.*", "Lambda") + " "
            + (said.matches(".*@[0-9a-f]+") ? "" : said);
    }

    private static String text(final Object value) {
        if (value instanceof List) {
            final List<String> parts = new ArrayList<>();
            ((List<?>) value).forEach(one -> parts.add(text(one)));
            return String.join(",", parts);
        }
        final String text = value instanceof Class ? ((Class<?>) value).getName() : String.valueOf(value);
        return text.replace('\t', ' ').replace('\n', ' ').replace(System.getProperty("java.io.tmpdir"), "${java.io.tmpdir}");
    }
}
