package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What runs in production is written down, and a build whose code would run something else fails. Made to be copied
 * into a build of your own: only {@link #settings()}, {@link #build()} and {@link #resultsAreTheOnesThatRun()} know
 * this application.
 *
 * <p>A changed topology is no mistake. It needs a decision, because state, topics in flight and the other instances of
 * the same group still belong to the old one. CI asks for the procedure with the two files of this test:
 *
 * <pre>
 * kstreams-runbooks verify --expected src/test/resources/topology.txt --actual target/topology.txt
 * </pre>
 */
class TopologyVerificationTest {
    /** Committed: what runs in production. It is replaced in the same commit that changes the topology on purpose. */
    private static final Path EXPECTED = Path.of("src/test/resources/topology.txt");

    /** Of this build, never committed. */
    private static final Path PRESENT = Path.of("target/topology.txt");

    @TempDir
    Path state;

    /**
     * The settings belong to the topology: {@code topology.optimization} merges and reuses topics, but only where
     * {@code StreamsBuilder.build} gets them. So they are production's, and the application's own code passes them on;
     * a topology that is put together for the test is not the one that is deployed.
     */
    private Settings settings() {
        Properties production = new Properties();
        production.setProperty("application.id", "orders");
        production.setProperty("bootstrap.servers", "none:0");
        production.setProperty("processing.guarantee", "exactly_once_v2");
        production.setProperty("statestore.cache.max.bytes", "0");
        production.setProperty("state.dir", state.toString());
        return new Settings(production);
    }

    private Topology build() {
        Settings settings = settings();
        return OrdersTopology.of(settings, new StreamsConfig(settings.streams()));
    }

    @Test
    void topologyIsTheOneThatRuns() throws IOException {
        String present = build().describe().toString();
        // Before anything can fail: CI needs the file most where this test is red.
        Files.createDirectories(PRESENT.getParent());
        Files.writeString(PRESENT, present);

        List<String> differences = differences(nodes(Files.readString(EXPECTED)), nodes(present));
        if (!differences.isEmpty()) {
            fail("The topology is not the one of " + EXPECTED + ":\n" + String.join("\n", differences)
                    + "\nHow to deploy it: kstreams-runbooks verify --expected " + EXPECTED + " --actual " + PRESENT
                    + "\nOnce that is decided: cp " + PRESENT + " " + EXPECTED);
        }
    }

    /** A description says nothing of what an operator computes: other logic under the same names has the same text. */
    @Test
    void resultsAreTheOnesThatRun() {
        try (TopologyTestDriver driver = new TopologyTestDriver(build(), settings().streams())) {
            driver.createInputTopic("orders", new StringSerializer(), new StringSerializer())
                    .pipeInput("o-1", "{'v':1,'event':'e-1','order':'o-1','customer':'c-1','amount':5,'ts':1000}"
                            .replace('\'', '"'));
            assertEquals(
                    List.of(KeyValue.pair("c-1", "{'v':1,'customer':'c-1','count':1,'sum':5,'event':'e-1','amount':5}"
                            .replace('\'', '"'))),
                    driver.createOutputTopic("orders-running", new StringDeserializer(), new StringDeserializer())
                            .readKeyValuesToList());
        }
    }

    /**
     * One line per node, with its arrows and its subtopology. The number of the subtopology counts: task directories
     * are named by it. The order of the nodes in the text does not, and another release may print another one.
     */
    private static Set<String> nodes(String description) {
        Set<String> nodes = new TreeSet<>();
        String subtopology = "";
        for (String line : description.replaceAll("\\R\\s*(-->|<--)", " $1").split("\\R")) {
            String node = line.strip();
            if (node.startsWith("Sub-topology:")) {
                subtopology = node;
            } else if (!node.isEmpty()) {
                nodes.add(subtopology + " " + node);
            }
        }
        return nodes;
    }

    private static List<String> differences(Set<String> expected, Set<String> present) {
        List<String> differences = new ArrayList<>();
        expected.stream().filter(node -> !present.contains(node)).forEach(node -> differences.add("- " + node));
        present.stream().filter(node -> !expected.contains(node)).forEach(node -> differences.add("+ " + node));
        return differences;
    }
}
