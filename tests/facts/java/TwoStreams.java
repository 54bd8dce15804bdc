import java.lang.management.ManagementFactory;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/**
 * An application with two KafkaStreams of one client.id, and no broker: prints their MBeans and what the first one has.
 *
 * <pre>
 * TwoStreams STATE_DIRECTORY WAIT_MS
 * </pre>
 */
public final class TwoStreams {
    private TwoStreams() {}

    public static void main(String[] arguments) throws Exception {
        start("one", arguments[0]);
        start("other", arguments[0]);
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
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void start(String application, String directory) {
        Properties settings = new Properties();
        settings.put("application.id", application);
        settings.put("bootstrap.servers", "127.0.0.1:9");
        settings.put("client.id", "shared");
        settings.put("state.dir", directory);
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(application + "-in").to(application + "-out");
        new KafkaStreams(builder.build(), settings).start();
    }
}
