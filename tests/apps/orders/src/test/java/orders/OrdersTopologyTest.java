package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class OrdersTopologyTest {
    @TempDir
    Path state;

    private Topology topology;
    private TopologyTestDriver driver;
    private TestInputTopic<String, String> orders;
    private TestInputTopic<String, String> customers;

    @BeforeEach
    void start() {
        start(CustomersCounted.NONE, Map.of());
    }

    private void start(CustomersCounted counted, Map<String, String> more) {
        Properties properties = new Properties();
        properties.setProperty("application.id", "orders");
        properties.setProperty("bootstrap.servers", "none:0");
        properties.setProperty("state.dir", state.toString());
        properties.setProperty("statestore.cache.max.bytes", "0");
        properties.setProperty("window.grace.ms", "1000");
        properties.putAll(more);
        Settings settings = new Settings(properties);
        topology = OrdersTopology.of(settings, new StreamsConfig(settings.streams()), counted);
        driver = new TopologyTestDriver(topology, settings.streams());
        orders = driver.createInputTopic("orders", new StringSerializer(), new StringSerializer());
        customers = driver.createInputTopic("customers", new StringSerializer(), new StringSerializer());
    }

    @AfterEach
    void stop() {
        driver.close();
    }

    /** An update of an order counts as an event, not as an order, and the join shows the latest of both sides. */
    @Test
    void twoOrdersOneOfThemUpdated() {
        customers.pipeInput("c-1", "{'v':1,'customer':'c-1','region':'r-3','seq':4,'ts':0}".replace('\'', '"'));
        order("e-0", "o-0", 5, 1_000);
        order("e-1", "o-1", 7, 2_000);
        order("e-2", "o-0", 6, 3_000);

        List<KeyValue<String, String>> running = read("orders-running");
        assertEquals(3, running.size());
        assertEquals(
                KeyValue.pair("c-1", "{\"v\":1,\"customer\":\"c-1\",\"count\":3,\"sum\":18,\"event\":\"e-2\",\"amount\":6}"),
                running.get(2));
        assertEquals(KeyValue.pair("c-1", "{\"v\":1,\"customer\":\"c-1\",\"count\":2}"), last("orders-per-customer"));
        assertEquals(
                KeyValue.pair(
                        "o-0",
                        "{\"v\":1,\"order\":\"o-0\",\"event\":\"e-2\",\"customer\":\"c-1\",\"amount\":6,"
                                + "\"region\":\"r-3\",\"seq\":4}"),
                last("orders-enriched"));
    }

    /** A window is written once, when event time has passed its end and the grace. */
    @Test
    void windowIsWrittenOnceItIsClosed() {
        order("e-0", "o-0", 5, 1_000);
        order("e-1", "o-1", 5, 9_999);
        order("e-2", "o-1", 5, 10_999);
        assertEquals(List.of(), read("orders-windowed"));
        order("e-3", "o-1", 5, 11_000);
        assertEquals(
                List.of(KeyValue.pair(
                        "c-1@0", "{\"v\":1,\"customer\":\"c-1\",\"start\":0,\"end\":10000,\"count\":2}")),
                read("orders-windowed"));
    }

    /** Every record of a customer counts, also one that changes nothing but its number. */
    @ParameterizedTest
    @EnumSource(names = {"GROUP_BY", "GROUP_BY_KEY"})
    void everyRecordOfACustomerIsCounted(CustomersCounted counted) {
        again(counted, Map.of());
        customer("c-1", 4);
        customer("c-2", 4);
        customer("c-1", 5);
        customer("c-1", 6);
        assertEquals(
                List.of(
                        KeyValue.pair("c-1", "{\"v\":1,\"customer\":\"c-1\",\"count\":1,\"seq\":4}"),
                        KeyValue.pair("c-2", "{\"v\":1,\"customer\":\"c-2\",\"count\":1,\"seq\":4}"),
                        KeyValue.pair("c-1", "{\"v\":1,\"customer\":\"c-1\",\"count\":2,\"seq\":5}"),
                        KeyValue.pair("c-1", "{\"v\":1,\"customer\":\"c-1\",\"count\":3,\"seq\":6}")),
                read("customers-counted"));
    }

    /** Committed for the plan between the two releases: one repartition topic goes, and the store moves. */
    @ParameterizedTest
    @CsvSource({"GROUP_BY, topology-4.3.1.1.txt", "GROUP_BY_KEY, topology-4.3.1.2.txt"})
    void theDescriptionIsTheCommittedOne(CustomersCounted counted, String file) throws IOException {
        again(counted, Map.of());
        assertEquals(Files.readString(Path.of("src/test/resources", file)), topology.describe().toString());
    }

    /** The setting alone decides whether two states behind one change of the key have a repartition topic each. */
    @ParameterizedTest
    @CsvSource({"none, 2", "merge.repartition.topics, 1"})
    void repartitionTopicsAreMergedWhereTheSettingSaysSo(String optimization, int topics) {
        again(CustomersCounted.NONE, Map.of("audit.counts", "true", "topology.optimization", optimization));
        String sinks = "\\(topic: orders-audited-\\w+-store-repartition\\)";
        assertEquals(topics, Pattern.compile(sinks).matcher(topology.describe().toString()).results().count());
    }

    /** No generated name: those shift when an operator is added. */
    @ParameterizedTest
    @EnumSource
    void everythingIsNamed(CustomersCounted counted) {
        again(counted, Map.of("audit", "true", "audit.counts", "true"));
        String description = topology.describe().toString();
        assertFalse(description.contains("KSTREAM-") || description.contains("KTABLE-"), description);
    }

    private void again(CustomersCounted counted, Map<String, String> more) {
        driver.close();
        start(counted, more);
    }

    private void customer(String customer, long seq) {
        customers.pipeInput(
                customer,
                "{\"v\":1,\"customer\":\"%s\",\"region\":\"r-3\",\"seq\":%d,\"ts\":0}".formatted(customer, seq));
    }

    private void order(String event, String order, long amount, long ts) {
        orders.pipeInput(
                order,
                "{\"v\":1,\"event\":\"%s\",\"order\":\"%s\",\"customer\":\"c-1\",\"amount\":%d,\"ts\":%d}"
                        .formatted(event, order, amount, ts));
    }

    private List<KeyValue<String, String>> read(String topic) {
        return driver.createOutputTopic(topic, new StringDeserializer(), new StringDeserializer())
                .readKeyValuesToList();
    }

    private KeyValue<String, String> last(String topic) {
        List<KeyValue<String, String>> all = read(topic);
        return all.get(all.size() - 1);
    }
}
