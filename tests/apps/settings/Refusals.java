import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * Tries settings on releases: constructs a KafkaStreams of one source with each of them, and never starts it.
 *
 * Arguments are folders, each named after a release, with its jars. Each line of stdin is one set of settings, as
 * name=value with tabs in between. Prints a line for each release and set: release, number of the line, and the
 * exception with its message, "-" if the library takes the settings. A release whose KafkaStreams cannot be constructed
 * at all is a line on stderr.
 */
public class Refusals {
    public static void main(final String[] folders) throws IOException {
        final List<Properties> tries = new ArrayList<>();
        final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            final Properties settings = new Properties();
            for (final String setting : line.split("\t")) {
                settings.setProperty(setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1));
            }
            tries.add(settings);
        }
        for (final String folder : folders) {
            final String release = new File(folder).getName();
            try (URLClassLoader loader = of(new File(folder))) {
                Thread.currentThread().setContextClassLoader(loader);
                final String plain = refusal(loader, new Properties());
                if (!plain.equals("-")) {
                    System.err.println(release + " constructs no KafkaStreams: " + plain);
                    continue;
                }
                for (int number = 0; number < tries.size(); number++) {
                    System.out.println(release + "\t" + number + "\t" + refusal(loader, tries.get(number)));
                }
            }
        }
        Runtime.getRuntime().halt(0); // the clients have threads
    }

    private static URLClassLoader of(final File folder) throws IOException {
        final List<URL> jars = new ArrayList<>();
        for (final File jar : folder.listFiles()) {
            jars.add(jar.toURI().toURL());
        }
        return new URLClassLoader(jars.toArray(new URL[0]), Refusals.class.getClassLoader());
    }

    private static String refusal(final ClassLoader loader, final Properties settings) {
        final Properties whole = new Properties();
        whole.setProperty("application.id", "settings");
        whole.setProperty("bootstrap.servers", "127.0.0.1:1");
        whole.setProperty("state.dir", System.getProperty("java.io.tmpdir"));
        settings.forEach(whole::put);
        try {
            constructed(loader, whole); // not closed: that may wait for a broker
            return "-";
        } catch (final ReflectiveOperationException | RuntimeException | LinkageError failure) {
            Throwable cause = failure;
            while (cause instanceof ReflectiveOperationException && cause.getCause() != null) {
                cause = cause.getCause();
            }
            final Throwable deepest = cause.getCause() == null ? cause : cause.getCause();
            return (cause + (deepest == cause ? "" : " <- " + deepest)).replaceAll("\\s+", " ");
        }
    }

    private static Object constructed(final ClassLoader loader, final Properties settings)
        throws ReflectiveOperationException {
        final Class<?> streams = Class.forName("org.apache.kafka.streams.KafkaStreams", true, loader);
        Class<?> topologies;
        try {
            topologies = Class.forName("org.apache.kafka.streams.Topology", true, loader);
        } catch (final ClassNotFoundException before10) {
            topologies = Class.forName("org.apache.kafka.streams.processor.TopologyBuilder", true, loader);
        }
        final Object topology = topologies.getConstructor().newInstance();
        topologies.getMethod("addSource", String.class, String[].class).invoke(topology, "in", new String[] {"in"});
        return streams.getConstructor(topologies, Properties.class).newInstance(topology, settings);
    }
}
