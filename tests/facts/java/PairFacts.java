import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import kstreams.runbooks.facts.TopologyFacts;
import org.apache.kafka.streams.Topology;
import topologies.Pair;
import topologies.Pairs;

/** Writes the facts of each pair of tests/apps/topologies to {@code DIRECTORY/PAIR/before.yaml} and after.yaml. */
public final class PairFacts {
    private PairFacts() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        for (Map.Entry<String, Pairs.Builder> pair : Pairs.byName().entrySet()) {
            Pair built = pair.getValue().build();
            Path folder = Files.createDirectories(directory.resolve(pair.getKey()));
            write(folder.resolve("before.yaml"), built.before());
            write(folder.resolve("after.yaml"), built.after());
        }
    }

    private static void write(Path file, Topology topology) throws IOException {
        Properties settings = new Properties();
        settings.put("application.id", "pairs");
        settings.put("bootstrap.servers", "none:0");
        settings.put("default.key.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        settings.put("default.value.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        Files.writeString(file, TopologyFacts.yaml(topology, settings));
    }
}
