package topologies;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.ThreadMetadata;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Runs one topology of a pair against a broker until SIGTERM. The lines `pause` and `resume` on stdin call
 * KafkaStreams#pause and KafkaStreams#resume.
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
 * standbys TASK...                        the same for its standby tasks
 * did pause, did resume                   after such a call
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
        Thread orders = new Thread(() -> follow(streams));
        orders.setDaemon(true);
        orders.start();
        watchTasks(streams);
    }

    private static void follow(KafkaStreams streams) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals("pause")) {
                    streams.pause();
                } else if (line.equals("resume")) {
                    streams.resume();
                } else {
                    throw new IllegalArgumentException("expected pause or resume: " + line);
                }
                say("did " + line);
            }
        } catch (IOException | RuntimeException failure) {
            fail(failure);
        }
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
        String active = "";
        String standby = "";
        for (; ; Thread.sleep(LOOK_MS)) {
            String activeNow = names(streams, ThreadMetadata::activeTasks);
            String standbyNow = names(streams, ThreadMetadata::standbyTasks);
            if (!activeNow.equals(active)) {
                say("tasks " + activeNow);
                active = activeNow;
            }
            if (!standbyNow.equals(standby)) {
                say("standbys " + standbyNow);
                standby = standbyNow;
            }
        }
    }

    private static String names(KafkaStreams streams, Function<ThreadMetadata, Set<TaskMetadata>> tasks) {
        TreeSet<String> names = new TreeSet<>();
        streams.metadataForLocalThreads()
                .forEach(thread -> tasks.apply(thread).forEach(task -> names.add(task.taskId().toString())));
        return String.join(" ", names);
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
