import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import kstreams.runbooks.facts.TopologyFacts;
import org.apache.kafka.streams.Topology;
import topologies.Pair;
import topologies.Pairs;

/**
 * Writes the facts of sides of pairs with settings of their own: for each line {@code PAIR/VARIANT SIDE} of
 * {@code DIRECTORY/sides.txt} the file {@code PAIR/VARIANT/SIDE.yaml}, with the settings in {@code SIDE.properties} next
 * to it. Without that file no settings are given.
 */
public final class CaseFacts {
    private CaseFacts() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        for (String line : Files.readAllLines(directory.resolve("sides.txt"))) {
            String[] words = line.split(" ");
            Path folder = directory.resolve(words[0]);
            Pair built = Pairs.byName().get(words[0].split("/")[0]).build();
            Topology topology = words[1].equals("before") ? built.before() : built.after();
            Path settings = folder.resolve(words[1] + ".properties");
            String facts = TopologyFacts.yaml(topology, Files.exists(settings) ? read(settings) : null);
            Files.writeString(folder.resolve(words[1] + ".yaml"), facts);
        }
    }

    private static Properties read(Path settings) throws Exception {
        Properties properties = new Properties();
        try (BufferedReader text = Files.newBufferedReader(settings)) {
            properties.load(text);
        }
        return properties;
    }
}
