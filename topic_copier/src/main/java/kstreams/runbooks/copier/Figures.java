package kstreams.runbooks.copier;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.common.TopicPartition;

/** The figures of a copier, as they were last read. */
final class Figures implements CopierMXBean {
    final LongAdder copied = new LongAdder();
    private final Settings settings;
    private final long startedAtMs = System.currentTimeMillis();
    private long copiedBefore;
    private long copiedReadAtMs = startedAtMs;
    private volatile double recordsPerSecond;
    private volatile Map<TopicPartition, Long> committed = Map.of();
    private volatile Map<String, Long> lagByTopic = Map.of();
    private volatile long lagReadAtMs = -1;
    private volatile Supplier<String> state;
    private volatile LongSupplier mergedMs = () -> -1;
    private volatile String lastError = "";
    private volatile long lastErrorAtMs = -1;

    Figures(Settings settings) {
        this.settings = settings;
    }

    /** Agents read it from now on. */
    void register(Supplier<String> state) {
        this.state = state;
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(this,
                new ObjectName("kstreams.runbooks:type=topic-copier,group=" + ObjectName.quote(settings.group)));
        } catch (JMException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Up to which time the records of all partitions are merged. */
    void merged(LongSupplier reachedMs) {
        mergedMs = reachedMs;
    }

    /** Committed offsets as they are now. */
    void committed(Map<TopicPartition, Long> read) {
        committed = Map.copyOf(read);
    }

    Map<TopicPartition, Long> committed() {
        return committed;
    }

    /** The lag by the committed offsets and these ends, and the rate since the last reading. */
    void ends(Map<TopicPartition, Long> stable) {
        Map<String, Long> lag = new TreeMap<>();
        stable.forEach((partition, end) -> lag.merge(partition.topic(),
            Math.max(0, end - committed.getOrDefault(partition, 0L)), Long::sum));
        lagByTopic = lag;
        lagReadAtMs = System.currentTimeMillis();
        long now = copied.sum();
        recordsPerSecond = (now - copiedBefore) * 1000.0 / Math.max(1, lagReadAtMs - copiedReadAtMs);
        copiedBefore = now;
        copiedReadAtMs = lagReadAtMs;
    }

    void error(String sentence) {
        lastError = sentence;
        lastErrorAtMs = System.currentTimeMillis();
    }

    static String version() {
        String own = Figures.class.getPackage().getImplementationVersion();
        return (own == null ? "unpackaged" : own) + " (Kafka Streams " + library() + ")";
    }

    /** From the file that every release of Kafka Streams has of itself. */
    private static String library() {
        Properties file = new Properties();
        try (InputStream text = Figures.class.getResourceAsStream("/kafka/kafka-streams-version.properties")) {
            file.load(text);
        } catch (IOException | RuntimeException unread) {
            return "unknown";
        }
        return file.getProperty("version", "unknown");
    }

    @Override
    public String getVersion() {
        return version();
    }

    @Override
    public String getGroup() {
        return settings.group;
    }

    @Override
    public List<String> getRoutes() {
        return settings.routes.stream().map(Route::toString).collect(Collectors.toList());
    }

    @Override
    public String getMode() {
        return settings.mode.written;
    }

    @Override
    public String getOrder() {
        return settings.order.written;
    }

    @Override
    public long getMergedUntilMs() {
        return mergedMs.getAsLong();
    }

    @Override
    public String getState() {
        return state.get();
    }

    @Override
    public long getStartedAtMs() {
        return startedAtMs;
    }

    @Override
    public long getCopiedRecords() {
        return copied.sum();
    }

    @Override
    public double getRecordsPerSecond() {
        return recordsPerSecond;
    }

    @Override
    public long getLag() {
        return lagReadAtMs < 0 ? -1 : lagByTopic.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public Map<String, Long> getLagByTopic() {
        return lagByTopic;
    }

    @Override
    public long getLagReadAtMs() {
        return lagReadAtMs;
    }

    @Override
    public long getUntilLeft() {
        return settings.until.isGiven() ? settings.until.left(committed) : -1;
    }

    @Override
    public String getLastError() {
        return lastError;
    }

    @Override
    public long getLastErrorAtMs() {
        return lastErrorAtMs;
    }
}
