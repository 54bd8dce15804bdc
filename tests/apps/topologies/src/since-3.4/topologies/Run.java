package topologies;

import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.StringJoiner;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Runs one topology of a pair against a broker until SIGTERM.
 *
 * <pre>
 * Run PAIR before|after PROPERTIES
 * </pre>
 *
 * On stdout, one line each:
 * <pre>
 * before TEXT, after TEXT                 both topologies as the library describes them, \\n for the end of a line
 * state STATE                             as Kafka Streams reports it
 * restored STORE PARTITION RECORDS        when a store has been read back from one partition of its changelog
 * tasks TASK...                           whenever they are others
 * failed EXCEPTION <- CAUSE...            and the process ends with 1
 * </pre>
 */
public final class Run {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);
    private static final long LOOK_MS = 100;

    private Run() {}

    public static void main(String[] arguments) throws Exception {
        Pair pair = Pairs.byName().get(arguments[0]).build();
        describe("before", pair.before());
        describe("after", pair.after());
        Topology topology = arguments[1].equals("before") ? pair.before() : pair.after();
        Properties settings = new Properties();
        try (Reader file = Files.newBufferedReader(Path.of(arguments[2]))) {
            settings.load(file);
        }
        try {
            run(topology, settings);
        } catch (RuntimeException failure) {
            fail(failure);
        }
    }

    private static void describe(String side, Topology topology) {
        say(side + " " + topology.describe().toString().replace("\n", "\\n"));
    }

    private static void run(Topology topology, Properties settings) throws InterruptedException {
        KafkaStreams streams = new KafkaStreams(topology, settings);
        streams.setStateListener((now, before) -> say("state " + now));
        streams.setGlobalStateRestoreListener(new Restores());
        streams.setUncaughtExceptionHandler(failure -> {
            fail(failure);
            return null;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(CLOSE_TIMEOUT)));
        streams.start();
        watchTasks(streams);
    }

    private static void fail(Throwable failure) {
        failure.printStackTrace();
        StringJoiner causes = new StringJoiner(" <- ");
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            causes.add(cause.toString().replace('\n', ' '));
        }
        say("failed " + causes);
        Runtime.getRuntime().halt(1);
    }

    private static void watchTasks(KafkaStreams streams) throws InterruptedException {
        for (String said = ""; ; Thread.sleep(LOOK_MS)) {
            TreeSet<String> tasks = new TreeSet<>();
            streams.metadataForLocalThreads().forEach(thread ->
                    thread.activeTasks().forEach(task -> tasks.add(task.taskId().toString())));
            String now = String.join(" ", tasks);
            if (!now.equals(said)) {
                say("tasks " + now);
                said = now;
            }
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static final class Restores implements StateRestoreListener {
        @Override
        public void onRestoreStart(TopicPartition place, String store, long start, long end) {}

        @Override
        public void onBatchRestored(TopicPartition place, String store, long end, long records) {}

        @Override
        public void onRestoreEnd(TopicPartition place, String store, long records) {
            say("restored " + store + " " + place.partition() + " " + records);
        }
    }
}
