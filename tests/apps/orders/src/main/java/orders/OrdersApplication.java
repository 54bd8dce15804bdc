package orders;

import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;

/**
 * The orders application.
 *
 * <pre>
 * OrdersApplication FILE...              runs until SIGTERM; later properties files override earlier ones
 * OrdersApplication --describe FILE...   prints the topology, needs no broker
 * </pre>
 *
 * Exit codes: 0 described, 143 stopped by SIGTERM, 2 bad settings (one sentence on stderr).
 */
public final class OrdersApplication {
    private static final String DESCRIBE = "--describe";
    private static final String USAGE = "usage: OrdersApplication [--describe] FILE...";

    private OrdersApplication() {}

    public static void main(String[] arguments) throws InterruptedException {
        try {
            if (arguments.length > 0 && arguments[0].equals(DESCRIBE)) {
                describe(files(arguments, 1));
            } else {
                prepare(files(arguments, 0)).run();
            }
        } catch (SettingsException e) {
            System.err.println("orders: " + e.getMessage());
            System.exit(2);
        }
    }

    private static List<String> files(String[] arguments, int from) {
        List<String> files = List.of(arguments).subList(from, arguments.length);
        if (files.isEmpty() || files.stream().anyMatch(file -> file.startsWith("-"))) {
            throw new SettingsException(USAGE);
        }
        return files;
    }

    private static void describe(List<String> files) {
        // Before the first logger: stdout is for the topology alone.
        System.setProperty("org.slf4j.simpleLogger.logFile", "System.err");
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        Settings settings = Settings.read(files);
        System.out.print(OrdersTopology.of(settings, config(settings)).describe());
    }

    /** The topology that these settings give; the command of topology-facts.jar calls it, and needs no broker. */
    static Topology topology(Properties properties) {
        Settings settings = new Settings(properties);
        return OrdersTopology.of(settings, config(settings));
    }

    private static RunningApplication prepare(List<String> files) {
        Settings settings = Settings.read(files);
        StreamsConfig config = config(settings);
        try {
            return new RunningApplication(OrdersTopology.of(settings, config), config, settings.cleanUp());
        } catch (ConfigException e) {
            throw new SettingsException(e.getMessage());
        } catch (KafkaException e) {
            // "Failed to construct kafka consumer" around the setting that is wrong
            if (e.getCause() instanceof ConfigException cause) {
                throw new SettingsException(cause.getMessage());
            }
            throw e;
        }
    }

    private static StreamsConfig config(Settings settings) {
        try {
            return new StreamsConfig(settings.streams());
        } catch (ConfigException e) {
            throw new SettingsException(e.getMessage());
        }
    }
}
