import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/**
 * An application with two KafkaStreams of one client.id, and no broker: prints that both are started, prints their MBeans
 * with the facts, closes the first one, and prints the number of MBeans that are left.
 *
 * <pre>
 * TwoStreams STATE_DIRECTORY WAIT_MS
 * </pre>
 */
public final class TwoStreams {
    private TwoStreams() {}

    public static void main(String[] arguments) throws Exception {
        KafkaStreams[] running = {start("one", arguments[0]), start("other", arguments[0])};
        System.out.println("started");
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        Set<ObjectName> names = new TreeSet<>();
        long until = System.currentTimeMillis() + Long.parseLong(arguments[1]);
        while (names.size() < 2 && System.currentTimeMillis() < until) {
            names.addAll(server.queryNames(new ObjectName("kstreams.runbooks:*"), null));
            Thread.sleep(50);
        }
        for (ObjectName name : names) {
            System.out.println("# " + name);
            System.out.println(server.getAttribute(name, "Facts"));
        }
        if (!names.isEmpty()) {
            running[0].close(Duration.ofSeconds(5));
            running[0] = null;
            System.out.println("# left " + left(server, until));
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** The MBeans after the garbage collector has run, at the latest at a time. */
    private static int left(MBeanServer server, long until) throws Exception {
        while (true) {
            System.gc();
            int left = server.queryNames(new ObjectName("kstreams.runbooks:*"), null).size();
            if (left < 2 || System.currentTimeMillis() > until) {
                return left;
            }
            Thread.sleep(200);
        }
    }

    private static KafkaStreams start(String application, String directory) {
        Properties settings = new Properties();
        settings.put("application.id", application);
        settings.put("bootstrap.servers", "127.0.0.1:9");
        settings.put("client.id", "shared");
        settings.put("state.dir", directory);
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(application + "-in").to(application + "-out");
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.start();
        return streams;
    }
}
