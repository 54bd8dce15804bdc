package orders;

import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.unbounded;
import static org.apache.kafka.streams.kstream.Suppressed.untilWindowCloses;

import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;

/**
 * The four results that are computed from orders and customers.
 *
 * <ul>
 *   <li>running: count and sum of the events of a customer, one record per event
 *   <li>windowed: events of a customer per window, one record per closed window
 *   <li>enriched: the latest version of each order, joined with its customer
 *   <li>per customer: the number of distinct orders
 * </ul>
 *
 * and in some releases a fifth ({@link CustomersCounted}).
 *
 * <p>Everything has a name of its own: generated ones shift when an operator is added, and take stores and topics along.
 */
final class OrdersTopology {
    private final Settings settings;
    private final CustomersCounted customersCounted;
    private final Serde<String> keys = Serdes.String();
    private final Serde<Long> counts = Count.serde();
    private final Serde<Order> orderSerde = JsonSerde.of(Order.class);
    private final Serde<Customer> customerSerde = JsonSerde.of(Customer.class);

    private OrdersTopology(Settings settings, CustomersCounted customersCounted) {
        this.settings = settings;
        this.customersCounted = customersCounted;
    }

    static Topology of(Settings settings, StreamsConfig config) {
        return of(settings, config, CustomersCounted.ofThisRelease());
    }

    static Topology of(Settings settings, StreamsConfig config, CustomersCounted customersCounted) {
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(config));
        new OrdersTopology(settings, customersCounted).build(builder);
        return builder.build(settings.streams());
    }

    private void build(StreamsBuilder builder) {
        KStream<String, Order> events = builder.stream(
                settings.text("topic.orders"),
                Consumed.with(keys, orderSerde)
                        .withTimestampExtractor(settings.eventTime())
                        .withName("orders-source"));

        // One repartition topic for both counts: the order of its records is the order in which both see them.
        KGroupedStream<String, Order> byCustomer = events.selectKey(this::customerOf, Named.as("orders-customer-key"))
                .repartition(Repartitioned.<String, Order>as("orders-by-customer")
                        .withKeySerde(keys)
                        .withValueSerde(orderSerde))
                .groupByKey(Grouped.as("orders-by-customer-group"));
        count(byCustomer);
        countPerWindow(byCustomer);

        KTable<String, Order> orders = events.toTable(
                Named.as("orders-table"),
                Materialized.<String, Order, KeyValueStore<Bytes, byte[]>>as("orders-store")
                        .withKeySerde(keys)
                        .withValueSerde(orderSerde));
        KTable<String, Customer> customers = customers(builder);
        enrich(orders, customers);
        countOrders(orders);
        customersCounted.count(customers, customerSerde, settings.text("topic.customers-counted"));
        if (settings.audit()) {
            audit(events);
        }
        if (settings.auditCounts()) {
            auditCounts(events);
        }
    }

    /**
     * TEST ONLY ({@code audit=true}): one more repartition topic, read by a subtopology of its own. It is built last, so
     * no other subtopology gets another number, and nothing is computed from it.
     */
    private void audit(KStream<String, Order> events) {
        events.selectKey((order, event) -> event.customer(), Named.as("orders-audit-key"))
                .repartition(Repartitioned.<String, Order>as("orders-audit")
                        .withKeySerde(keys)
                        .withValueSerde(orderSerde))
                .foreach((customer, event) -> {}, Named.as("orders-audit-end"));
    }

    /**
     * TEST ONLY ({@code audit.counts=true}): two states behind one change of the key, each with a repartition topic named
     * after its store; {@code topology.optimization=merge.repartition.topics} makes one topic of them.
     */
    private void auditCounts(KStream<String, Order> events) {
        KGroupedStream<String, Order> byCustomer = events.selectKey(
                        (order, event) -> event.customer(), Named.as("orders-audited-key"))
                .groupByKey(Grouped.with(keys, orderSerde));
        byCustomer.count(
                Named.as("orders-audited-count"),
                Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("orders-audited-count-store")
                        .withKeySerde(keys)
                        .withValueSerde(counts));
        byCustomer.reduce(
                (before, latest) -> latest,
                Named.as("orders-audited-latest"),
                Materialized.<String, Order, KeyValueStore<Bytes, byte[]>>as("orders-audited-latest-store")
                        .withKeySerde(keys)
                        .withValueSerde(orderSerde));
    }

    private String customerOf(String order, Order event) {
        settings.processingDelay().await();
        return event.customer();
    }

    private KTable<String, Customer> customers(StreamsBuilder builder) {
        return builder.table(
                settings.text("topic.customers"),
                Consumed.with(keys, customerSerde)
                        .withTimestampExtractor(settings.eventTime())
                        .withName("customers"),
                Materialized.<String, Customer, KeyValueStore<Bytes, byte[]>>as("customers-store")
                        .withKeySerde(keys)
                        .withValueSerde(customerSerde));
    }

    private void count(KGroupedStream<String, Order> byCustomer) {
        Serde<RunningCount> runningSerde = JsonSerde.of(RunningCount.class);
        byCustomer
                .aggregate(
                        RunningCount::none,
                        (customer, order, running) -> running.plus(order),
                        Named.as("orders-running"),
                        Materialized.<String, RunningCount, KeyValueStore<Bytes, byte[]>>as("orders-running-store")
                                .withKeySerde(keys)
                                .withValueSerde(runningSerde))
                .toStream(Named.as("orders-running-stream"))
                .to(
                        settings.text("topic.running"),
                        Produced.with(keys, runningSerde).withName("orders-running-sink"));
    }

    /** TEST ONLY ({@code windowed.changelog=false}): a change of the store that its description does not show. */
    private Materialized<String, Long, WindowStore<Bytes, byte[]>> windowedStore() {
        Materialized<String, Long, WindowStore<Bytes, byte[]>> store =
                Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("orders-windowed-store")
                        .withKeySerde(keys)
                        .withValueSerde(counts);
        return settings.windowedChangelog() ? store : store.withLoggingDisabled();
    }

    private void countPerWindow(KGroupedStream<String, Order> byCustomer) {
        byCustomer
                .windowedBy(TimeWindows.ofSizeAndGrace(
                        settings.duration("window.size.ms"), settings.duration("window.grace.ms")))
                .count(Named.as("orders-windowed"), windowedStore())
                .suppress(untilWindowCloses(unbounded()).withName("orders-windowed-closed"))
                .toStream(Named.as("orders-windowed-stream"))
                .map(
                        (window, count) -> {
                            WindowedCount windowed = WindowedCount.of(window, count);
                            return KeyValue.pair(windowed.key(), windowed);
                        },
                        Named.as("orders-windowed-key"))
                .to(
                        settings.text("topic.windowed"),
                        Produced.with(keys, JsonSerde.of(WindowedCount.class)).withName("orders-windowed-sink"));
    }

    private void enrich(KTable<String, Order> orders, KTable<String, Customer> customers) {
        Serde<EnrichedOrder> enrichedSerde = JsonSerde.of(EnrichedOrder.class);
        orders.join(
                        customers,
                        Order::customer,
                        EnrichedOrder::of,
                        TableJoined.as("orders-enriched"),
                        Materialized.<String, EnrichedOrder, KeyValueStore<Bytes, byte[]>>as("orders-enriched-store")
                                .withKeySerde(keys)
                                .withValueSerde(enrichedSerde))
                .toStream(Named.as("orders-enriched-stream"))
                .to(
                        settings.text("topic.enriched"),
                        Produced.with(keys, enrichedSerde).withName("orders-enriched-sink"));
    }

    /**
     * An order never changes its customer, so each update subtracts from and adds to the same group: the case that
     * KIP-904 writes in another form since 3.5, which 3.4 misreads. Only the order's name goes to the count, as text:
     * 3.4 takes the two names and the length between them for one name, which no text serde can notice.
     */
    private void countOrders(KTable<String, Order> orders) {
        orders.groupBy(
                        (order, latest) -> KeyValue.pair(latest.customer(), Versioned.CURRENT + "|" + order),
                        Grouped.<String, String>as("orders-per-customer")
                                .withKeySerde(keys)
                                .withValueSerde(Serdes.String()))
                .count(
                        Named.as("orders-per-customer-count"),
                        Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("orders-per-customer-store")
                                .withKeySerde(keys)
                                .withValueSerde(counts))
                .toStream(Named.as("orders-per-customer-stream"))
                .mapValues(CustomerCount::of, Named.as("orders-per-customer-value"))
                .to(
                        settings.text("topic.per-customer"),
                        Produced.with(keys, JsonSerde.of(CustomerCount.class)).withName("orders-per-customer-sink"));
    }
}
