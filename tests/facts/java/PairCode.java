package kstreams.runbooks.facts;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import kstreams.runbooks.code.JvmDefaults;
import org.apache.kafka.streams.Topology;
import topologies.Pair;
import topologies.Pairs;

/** PairFacts with digests of code, as the command writes them. */
public final class PairCode {
    private PairCode() {}

    public static void main(String[] arguments) throws Exception {
        for (Map.Entry<String, Pairs.Builder> pair : Pairs.byName().entrySet()) {
            Pair built = pair.getValue().build();
            Path folder = Files.createDirectories(Paths.get(arguments[0]).resolve(pair.getKey()));
            write(folder.resolve("before.yaml"), built.before());
            write(folder.resolve("after.yaml"), built.after());
        }
        Runtime.getRuntime().halt(0);
    }

    private static void write(Path file, Topology topology) throws Exception {
        Properties settings = new Properties();
        settings.put("application.id", "pairs");
        settings.put("bootstrap.servers", "none:0");
        settings.put("default.key.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        settings.put("default.value.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
        CodeReader code = new CodeReader(Pairs.class, Collections.emptyList(), new JvmDefaults());
        Facts facts = TopologyFacts.document(topology, settings, code);
        code.read(facts);
        Files.write(file, facts.yaml().getBytes("UTF-8"));
    }
}
