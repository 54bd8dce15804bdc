import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import kstreams.runbooks.facts.TopologyFacts;
import topologies.Pair;
import topologies.Pairs;

/** Prints the facts of one side of a pair of tests/apps/topologies: {@code PAIR before|after PROPERTIES}. */
public final class SideFacts {
    private SideFacts() {}

    public static void main(String[] arguments) throws Exception {
        Pair pair = Pairs.byName().get(arguments[0]).build();
        Properties settings = new Properties();
        try (Reader file = Files.newBufferedReader(Path.of(arguments[2]))) {
            settings.load(file);
        }
        System.out.print(TopologyFacts.yaml(arguments[1].equals("before") ? pair.before() : pair.after(), settings));
    }
}
