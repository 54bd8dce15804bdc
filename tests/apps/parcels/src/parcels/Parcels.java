package parcels;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts the scans of parcels by depot: two streams that are merged, and a global table of the depots' names.
 *
 * <pre>
 * Parcels FILE...    runs until SIGTERM; later properties files override earlier ones
 * </pre>
 *
 * Code chooses the topic that it writes, always the same one: no description names it.
 *
 * A scan has its depot as key and its own name as value. The output has, by depot, {@code scan|name of the depot|count}:
 * a scan that is lost or read twice breaks the count, and a global table that lacks a row shows as {@code ?}.
 */
public final class Parcels {
    private static final String PREFIX = "topic.";

    private Parcels() {}

    public static void main(String[] files) throws IOException {
        Properties properties = new Properties();
        for (String file : files) {
            try (Reader reader = Files.newBufferedReader(Path.of(file))) {
                properties.load(reader);
            }
        }
        KafkaStreams streams = new KafkaStreams(topology(properties), properties);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }

    /** The topology that these settings give; the command of topology-facts.jar calls it, and needs no broker. */
    static Topology topology(Properties properties) {
        Consumed<String, String> texts = Consumed.with(Serdes.String(), Serdes.String());
        StreamsBuilder builder = new StreamsBuilder();
        GlobalKTable<String, String> depots = builder.globalTable(
                named(properties, "depots"), texts, Materialized.as("depots-store"));
        KStream<String, String> scans = builder.stream(named(properties, "scans"), texts.withName("scans"));
        KStream<String, String> returns = builder.stream(named(properties, "returns"), texts.withName("returns"));
        scans.merge(returns, Named.as("all-scans"))
                .leftJoin(
                        depots,
                        (depot, scan) -> depot,
                        (scan, name) -> scan + "|" + (name == null ? "?" : name),
                        Named.as("with-depot"))
                .groupByKey(Grouped.with("by-depot", Serdes.String(), Serdes.String()))
                .aggregate(
                        () -> "||0",
                        (depot, scan, last) -> scan + "|" + (1 + Long.parseLong(last.substring(last.lastIndexOf('|') + 1))),
                        Named.as("count-scans"),
                        Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("scans-store")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.String())
                                .withCachingDisabled())
                .toStream(Named.as("counted"))
                .to(
                        (depot, counted, record) -> named(properties, "counted"),
                        Produced.with(Serdes.String(), Serdes.String()).withName("counted-out"));
        return builder.build(properties);
    }

    private static String named(Properties properties, String role) {
        return properties.getProperty(PREFIX + role, "parcels-" + role);
    }
}
