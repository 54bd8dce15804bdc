package orders;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TimestampExtractor;

/**
 * What the properties files say. The application's own keys are the ones of {@link #DEFAULTS}; every other key is handed
 * to Kafka Streams as it is, so that a deployment can set whatever its release knows ({@code upgrade.from},
 * {@code group.instance.id}, {@code group.protocol}, ...).
 */
final class Settings {
    static final String FAIL_AT_START = "fail.at.start";
    static final String PROCESSING_DELAY = "processing.delay.ms";
    static final String AUDIT = "audit";
    static final String AUDIT_COUNTS = "audit.counts";
    static final String WINDOWED_CHANGELOG = "windowed.changelog";
    static final String CLEAN_UP = "clean.up";

    private static final Map<String, String> DEFAULTS = Map.ofEntries(
            Map.entry("topic.orders", "orders"),
            Map.entry("topic.customers", "customers"),
            Map.entry("topic.running", "orders-running"),
            Map.entry("topic.windowed", "orders-windowed"),
            Map.entry("topic.enriched", "orders-enriched"),
            Map.entry("topic.per-customer", "orders-per-customer"),
            Map.entry("topic.customers-counted", "customers-counted"),
            Map.entry("window.size.ms", "10000"),
            Map.entry("window.grace.ms", "120000"),
            Map.entry(FAIL_AT_START, "false"),
            Map.entry(PROCESSING_DELAY, "0"),
            Map.entry(AUDIT, "false"),
            Map.entry(AUDIT_COUNTS, "false"),
            Map.entry(WINDOWED_CHANGELOG, "true"),
            Map.entry(CLEAN_UP, "false"));

    /** Read by the launcher, which starts the release and the agents before there is an application. */
    private static final List<String> OF_THE_LAUNCHER = List.of("release", "metrics.port", "facts.agent");

    private final Map<String, String> own = new TreeMap<>(DEFAULTS);
    private final Properties streams = new Properties();
    private final ProcessingDelay processingDelay;
    private final TimestampExtractor eventTime;

    Settings(Properties properties) {
        for (String key : properties.stringPropertyNames()) {
            String value = properties.getProperty(key).strip();
            if (own.containsKey(key)) {
                own.put(key, value);
            } else if (!OF_THE_LAUNCHER.contains(key)) {
                streams.setProperty(key, value);
            }
        }
        for (String required : List.of(StreamsConfig.APPLICATION_ID_CONFIG, StreamsConfig.BOOTSTRAP_SERVERS_CONFIG)) {
            if (streams.getProperty(required, "").isEmpty()) {
                throw new SettingsException(required + " is not set; add it to one of the properties files");
            }
        }
        own.forEach((key, value) -> {
            if (value.isEmpty()) {
                throw new SettingsException(key + " is empty; its default is " + DEFAULTS.get(key));
            }
        });
        if (millis("window.size.ms") == 0) {
            throw new SettingsException("window.size.ms is 0; a window has at least 1 ms");
        }
        processingDelay = new ProcessingDelay(millis(PROCESSING_DELAY));
        eventTime = flag(FAIL_AT_START) ? new FailAtStart() : new EventTime();
    }

    /** Reads the files in order; what a later one says overrides an earlier one. */
    static Settings read(List<String> files) {
        Properties properties = new Properties();
        for (String file : files) {
            try (Reader reader = Files.newBufferedReader(Path.of(file))) {
                properties.load(reader);
            } catch (NoSuchFileException e) {
                throw new SettingsException("there is no properties file " + file);
            } catch (IOException | IllegalArgumentException e) {
                throw new SettingsException("the properties file " + file + " cannot be read: " + e.getMessage());
            }
        }
        return new Settings(properties);
    }

    String text(String key) {
        return own.get(key);
    }

    Duration duration(String key) {
        return Duration.ofMillis(millis(key));
    }

    ProcessingDelay processingDelay() {
        return processingDelay;
    }

    /** Where the time of an input record comes from. */
    TimestampExtractor eventTime() {
        return eventTime;
    }

    /** Whether the topology has one more repartition topic. */
    boolean audit() {
        return flag(AUDIT);
    }

    /** Whether the topology has two more repartition topics, which can be merged. */
    boolean auditCounts() {
        return flag(AUDIT_COUNTS);
    }

    /** Whether the counts of open windows are kept in a changelog as well. */
    boolean windowedChangelog() {
        return flag(WINDOWED_CHANGELOG);
    }

    /** Whether all local state is deleted before the start. */
    boolean cleanUp() {
        return flag(CLEAN_UP);
    }

    /** What goes to Kafka Streams: a copy, everything as text. */
    Properties streams() {
        Properties copy = new Properties();
        copy.putAll(streams);
        return copy;
    }

    private long millis(String key) {
        try {
            long millis = Long.parseLong(own.get(key));
            if (millis >= 0) {
                return millis;
            }
        } catch (NumberFormatException e) {
            // the same sentence as for a negative one
        }
        throw new SettingsException(key + " is '" + own.get(key) + "'; it takes whole milliseconds, 0 or more");
    }

    private boolean flag(String key) {
        return switch (own.get(key)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new SettingsException(key + " is '" + own.get(key) + "'; it is true or false");
        };
    }
}
