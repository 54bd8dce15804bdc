package domains;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kstreams.runbooks.facts.TopologyFacts;
import org.apache.kafka.streams.Topology;
import topologies.Pair;
import topologies.Pairs;

/**
 * Writes text and facts of both sides of each pair of the named classes: PAIR/{before,after}.{txt,yaml}.
 *
 * <pre>
 * Main DIRECTORY CLASS...
 * </pre>
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        List<Class<?>> types = new ArrayList<>();
        for (String name : List.of(arguments).subList(1, arguments.length)) {
            types.add(Class.forName("domains." + name));
        }
        for (Map.Entry<String, Pairs.Builder> pair : Pairs.byName(types).entrySet()) {
            Pair built = pair.getValue().build();
            Path folder = Files.createDirectories(directory.resolve(pair.getKey()));
            write(folder, "before", built.before());
            write(folder, "after", built.after());
        }
    }

    private static void write(Path folder, String side, Topology topology) throws Exception {
        Properties settings = new Properties();
        settings.put("application.id", "domains");
        settings.put("bootstrap.servers", "none:0");
        settings.put("default.key.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        settings.put("default.value.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        Files.writeString(folder.resolve(side + ".txt"), topology.describe().toString());
        Files.writeString(folder.resolve(side + ".yaml"), TopologyFacts.yaml(topology, settings));
    }
}
