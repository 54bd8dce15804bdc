package kstreams.runbooks.copier;

import static java.util.Map.entry;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.LogAndFailExceptionHandler;
import org.apache.kafka.streams.errors.LogAndFailProcessingExceptionHandler;

/** What the properties files set: the copier's own settings, and those of Kafka Streams and its clients. */
final class Settings {
    private static final String ROUTES = "routes";
    private static final String MODE = "mode";
    private static final String UNTIL = "until";
    /** Deployers write the release that they deploy next to the settings. */
    private static final String RELEASE = "release";
    private static final String ORDER = "order";
    private static final String PACE = "pace";
    private static final String PARTITIONS = "partitions";
    private static final Set<String> OWN = Set.of(ROUTES, MODE, UNTIL, ORDER, PACE, PARTITIONS, RELEASE);
    /** The copier's guarantees rest on these: without them, a kill repeats records, or a start skips some. */
    private static final Map<String, String> FIXED = Map.ofEntries(
        entry(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2),
        entry(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none"),
        entry(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"),
        entry(ConsumerConfig.CHECK_CRCS_CONFIG, "true"),
        entry(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true"),
        entry(ProducerConfig.ACKS_CONFIG, "all"),
        // With it the broker never ends the transaction of a killed copier.
        entry("transaction.two.phase.commit.enable", "false"),
        // Handlers that continue drop the record, and its offset is committed.
        entry(StreamsConfig.PRODUCTION_EXCEPTION_HANDLER_CLASS_CONFIG, StopAtPoison.class.getName()),
        entry("default.production.exception.handler", StopAtPoison.class.getName()),
        entry(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG,
            LogAndFailProcessingExceptionHandler.class.getName()),
        entry(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG, LogAndFailExceptionHandler.class.getName()),
        entry("default.deserialization.exception.handler", LogAndFailExceptionHandler.class.getName()));
    /** Code between source and target, which may drop or change records. */
    private static final Set<String> BARRED = Set.of(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG,
        StreamsConfig.PROCESSOR_WRAPPER_CLASS_CONFIG, Clients.WRAPPER);
    private static final List<String> PREFIXES = List.of("main.consumer.", "consumer.", "producer.", "admin.");
    /** A broker shows new partitions after this time; the default hides them for five minutes. */
    private static final String METADATA_MAX_AGE_MS = "10000";
    /** A kill leaves an open transaction, which holds the readers of the target up for this time and a scan (10 s). */
    private static final String TRANSACTION_TIMEOUT = "producer.transaction.timeout.ms";
    private static final String TRANSACTION_TIMEOUT_MS = "5000";
    /** A kill leaves a member, which keeps its partitions for this time. */
    private static final String SESSION_TIMEOUT_MS = "6000";
    private static final String HEARTBEAT_MS = "1500";
    /** Of a partition, for a look at some records. */
    private static final String FETCHED_BYTES = String.valueOf(256 * 1024);
    /** The target's max.message.bytes decides, not the client. */
    private static final String MAX_REQUEST_BYTES = String.valueOf(64 * 1024 * 1024);

    final List<Route> routes;
    final Mode mode;
    final Until until;
    final Order order;
    final GrownTargets grown;
    final String group;
    final boolean streamsGroup;
    private final String client;
    private final Properties kafka;

    Settings(Properties given) throws Refused {
        routes = Route.parse(required(given, ROUTES));
        mode = Mode.parse(given.getProperty(MODE, Mode.SAME_PARTITION.written).trim());
        until = given.containsKey(UNTIL) ? Until.parse(given.getProperty(UNTIL)) : Until.NEVER;
        order = Order.parse(given.getProperty(ORDER, "as-read").trim(), given.getProperty(PACE, "").trim());
        grown = GrownTargets.parse(given.getProperty(PARTITIONS, "").trim(), mode, routes);
        group = required(given, StreamsConfig.APPLICATION_ID_CONFIG);
        client = given.getProperty(StreamsConfig.CLIENT_ID_CONFIG, group).trim();
        required(given, StreamsConfig.BOOTSTRAP_SERVERS_CONFIG);
        streamsGroup = "streams".equalsIgnoreCase(given.getProperty(StreamsConfig.GROUP_PROTOCOL_CONFIG));
        requireKnown(given.stringPropertyNames());
        requireFixed(given);
        requireOneThread(given);
        kafka = withDefaults(given, streamsGroup);
    }

    /** The files' settings; a later file overrides an earlier one. */
    static Settings read(List<Path> files) throws Refused {
        Properties given = new Properties();
        for (Path file : files) {
            Once once = new Once();
            try (Reader reader = Files.newBufferedReader(file)) {
                once.load(reader);
                given.putAll(once);
            } catch (IOException error) {
                throw new Refused(file + " cannot be read (" + error + "); give --config a properties file.");
            } catch (IllegalArgumentException error) {
                throw new Refused(file + ": " + Poison.oneLine(error.getMessage()) + " Correct that line.");
            }
        }
        return new Settings(given);
    }

    /** A second line of the same setting would replace the first without a word, such as a second line of routes. */
    private static final class Once extends Properties {
        private static final long serialVersionUID = 1L;

        @Override
        public synchronized Object put(Object name, Object value) {
            if (super.put(name, value) != null) {
                throw new IllegalArgumentException(name + " is set twice");
            }
            return null;
        }
    }

    /** A part of the client ids of all instances that copy like this one. */
    String mark() {
        List<String> copies = new ArrayList<>(List.of(mode.written, order.written));
        routes.stream().map(Route::toString).sorted().forEach(copies::add);
        until.ends().entrySet().stream().map(Object::toString).sorted().forEach(copies::add);
        return "-" + Integer.toHexString(copies.hashCode()) + "-";
    }

    /** For Kafka Streams, whose clients get the same ones. */
    Properties kafka() {
        Properties copy = new Properties();
        copy.putAll(kafka);
        copy.put(StreamsConfig.CLIENT_ID_CONFIG, client + mark() + UUID.randomUUID());
        return copy;
    }

    /** For an admin client with the same login. */
    Map<String, Object> admin() throws Refused {
        try {
            return new StreamsConfig(kafka).getAdminConfigs(group + "-checks");
        } catch (ConfigException error) {
            throw new Refused("The settings are not valid: " + error.getMessage() + ". Correct the setting.");
        }
    }

    /** For a consumer without a group, with the same login. */
    Map<String, Object> reader(IsolationLevel isolation) {
        Map<String, Object> reader = new StreamsConfig(kafka).getRestoreConsumerConfigs(group + "-checks");
        reader.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString().toLowerCase(Locale.ROOT));
        reader.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, FETCHED_BYTES);
        return reader;
    }

    /** After which brokers end the transaction of a killed copier. */
    Duration transactionTimeout() throws Refused {
        String value = kafka.getProperty(TRANSACTION_TIMEOUT);
        try {
            return Duration.ofMillis(Long.parseLong(value));
        } catch (NumberFormatException error) {
            throw new Refused(TRANSACTION_TIMEOUT + " is '" + value + "' (expected milliseconds); correct it.");
        }
    }

    private static String required(Properties given, String name) throws Refused {
        String value = given.getProperty(name, "").trim();
        if (value.isEmpty()) {
            throw new Refused(name + " is not set; add a line " + name + "=… to the file of --config.");
        }
        return value;
    }

    /** A misspelt setting of ours would be passed to Kafka, which ignores it: the copier would never end. */
    private static void requireKnown(Set<String> names) throws Refused {
        Set<String> unknown = new TreeSet<>(names);
        unknown.removeAll(OWN);
        unknown.removeAll(StreamsConfig.configDef().names());
        unknown.removeAll(ConsumerConfig.configNames());
        unknown.removeAll(ProducerConfig.configNames());
        unknown.removeAll(AdminClientConfig.configNames());
        // Kafka's own classes may have settings of any name, with a dot: providers, reporters, interceptors.
        unknown.removeIf(name -> name.contains("."));
        if (!unknown.isEmpty()) {
            throw new Refused("Setting '" + String.join("', '", unknown) + "' is neither the copier's (routes, mode,"
                + " until, order, pace, partitions) nor Kafka's; correct or remove it.");
        }
    }

    private static void requireFixed(Properties given) throws Refused {
        for (String name : given.stringPropertyNames()) {
            String bare = PREFIXES.stream().filter(name::startsWith).findFirst()
                .map(prefix -> name.substring(prefix.length())).orElse(name);
            String fixed = FIXED.get(bare);
            if (fixed != null && !fixed.equals(given.getProperty(name).trim())) {
                throw new Refused(name + " is " + given.getProperty(name).trim() + ", and the copier needs " + fixed
                    + "; remove the line.");
            }
            if (BARRED.contains(bare)) {
                throw new Refused(name + " is set, and nothing may change a record between source and target; remove"
                    + " the line.");
            }
        }
    }

    /** One thread has to see all partitions to merge them. */
    private void requireOneThread(Properties given) throws Refused {
        String threads = given.getProperty(StreamsConfig.NUM_STREAM_THREADS_CONFIG, "1").trim();
        if (order.isByTime() && !threads.equals("1")) {
            throw new Refused("order=by-time needs one thread, and num.stream.threads is " + threads
                + "; remove that line, or set order=as-read.");
        }
        if (order.isByTime() && streamsGroup) {
            throw new Refused("order=by-time needs a classic group, and group.protocol is streams; remove that line, or"
                + " set order=as-read.");
        }
    }

    private static Properties withDefaults(Properties given, boolean streamsGroup) {
        Properties kafka = new Properties();
        kafka.put("commit.interval.ms", "100");
        kafka.put("metadata.max.age.ms", METADATA_MAX_AGE_MS);
        kafka.put(TRANSACTION_TIMEOUT, TRANSACTION_TIMEOUT_MS);
        kafka.put("producer.max.request.size", MAX_REQUEST_BYTES);
        kafka.put("producer.buffer.memory", MAX_REQUEST_BYTES);
        kafka.put("producer.compression.type", "lz4");
        if (!streamsGroup) { // a streams group has these on the broker
            kafka.put("consumer.session.timeout.ms", SESSION_TIMEOUT_MS);
            kafka.put("consumer.heartbeat.interval.ms", HEARTBEAT_MS);
        }
        given.stringPropertyNames().stream().filter(name -> !OWN.contains(name))
            .forEach(name -> kafka.put(name, given.getProperty(name).trim()));
        kafka.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        for (String handler : List.of(StreamsConfig.PRODUCTION_EXCEPTION_HANDLER_CLASS_CONFIG,
                StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG,
                StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG)) {
            kafka.put(handler, FIXED.get(handler));
        }
        return kafka;
    }
}
