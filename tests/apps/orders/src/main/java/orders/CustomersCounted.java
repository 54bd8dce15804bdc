package orders;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * How a release counts the records of each customer: one result per record. The build of the release decides it
 * ({@code customers.counted} of its pom), so that no setting of a deployment changes the topology.
 *
 * <p>The table reads {@code customers} already, and one topology cannot read a topic as a stream as well; so the
 * stream is the one of the table's updates, of which there is one per record as long as nothing is cached.
 */
enum CustomersCounted {
    NONE,
    /** Behind a groupBy that keeps the key: a repartition topic that nothing needs, and a subtopology of its own. */
    GROUP_BY,
    /** The same store, in the subtopology of the table. */
    GROUP_BY_KEY;

    private static final String RELEASE = "/release.properties";
    private static final String KEY = "customers.counted";

    /** As the build of these classes decided it. */
    static CustomersCounted ofThisRelease() {
        Properties release = new Properties();
        try (InputStream file = CustomersCounted.class.getResourceAsStream(RELEASE)) {
            release.load(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return valueOf(release.getProperty(KEY).replace('-', '_').toUpperCase());
    }

    /** Adds the count behind the table, or nothing. */
    void count(KTable<String, Customer> customers, Serde<Customer> customerSerde, String topic) {
        if (this == NONE) {
            return;
        }
        Serde<String> keys = Serdes.String();
        Serde<CountedCustomer> counted = JsonSerde.of(CountedCustomer.class);
        group(customers.toStream(Named.as("customers-updates")), Grouped.with("customers-counted", keys, customerSerde))
                .aggregate(
                        CountedCustomer::none,
                        (customer, update, before) -> before.plus(update),
                        Named.as("customers-counted-count"),
                        Materialized.<String, CountedCustomer, KeyValueStore<Bytes, byte[]>>as("customers-counted-store")
                                .withKeySerde(keys)
                                .withValueSerde(counted))
                .toStream(Named.as("customers-counted-stream"))
                .to(topic, Produced.with(keys, counted).withName("customers-counted-sink"));
    }

    private KGroupedStream<String, Customer> group(
            KStream<String, Customer> updates, Grouped<String, Customer> grouped) {
        return this == GROUP_BY ? updates.groupBy((customer, update) -> customer, grouped) : updates.groupByKey(grouped);
    }
}
