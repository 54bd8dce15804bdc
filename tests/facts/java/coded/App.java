package shop;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.Stores;

public final class App {
    private static final int LIMIT = Integer.parseInt("7");
    private static final Rate RATE = new Rate(3, "tax");
    private final int bonus;

    App(int bonus) {
        this.bonus = bonus;
    }

    public static Topology topology() {
        return new App(5).build();
    }

    private Topology build() {
        StreamsBuilder builder = new StreamsBuilder();
        Serde<Order> orders = new JsonSerde<>(Order.class);
        Serde<Total> totals = Serdes.serdeFrom(new TotalWriter(), new TotalReader());
        KStream<String, Order> all = builder.stream("orders",
                Consumed.with(Serdes.String(), orders).withTimestampExtractor(new EventTime()).withName("all"));
        int minimum = 2;
        String mark = String.join("-", "order", "seen");
        KStream<String, Order> valid = all
                .filter((id, order) -> order.amount > minimum, Named.as("valid"))
                .mapValues(order -> order.with(Text.cleaned(order.customer)), Named.as("cleaned"));
        KGroupedStream<String, Order> grouped =
                valid.groupBy((id, order) -> order.customer, Grouped.with("by-customer", Serdes.String(), orders));
        grouped.aggregate(Total::new, App::added, Named.as("sum"),
                Materialized.<String, Total, org.apache.kafka.streams.state.KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("totals")
                        .withKeySerde(Serdes.String()).withValueSerde(totals));
        grouped.reduce((one, other) -> one.amount >= other.amount ? one : other, Named.as("largest"),
                Materialized.<String, Order>as(new Shelf("largest-store")).withKeySerde(Serdes.String()).withValueSerde(orders));
        grouped.windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofMinutes(1), Duration.ZERO))
                .aggregate(Total::new, App::added, (id, one, other) -> one.merged(other), Named.as("visits"),
                        Materialized.<String, Total, org.apache.kafka.streams.state.SessionStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("visits-store")
                                .withKeySerde(Serdes.String()).withValueSerde(totals));
        KTable<String, Order> table = builder.table("current", Consumed.with(Serdes.String(), orders).withName("current"),
                Materialized.as("current-store"));
        table.groupBy((id, order) -> KeyValue.pair(order.status.name(), order),
                        Grouped.with("by-status", Serdes.String(), orders))
                .aggregate(Total::new, (id, order, total) -> total.plus(order.amount),
                        (id, order, total) -> total.plus(-order.amount), Named.as("per-status"),
                        Materialized.<String, Total, org.apache.kafka.streams.state.KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("per-status-store")
                                .withKeySerde(Serdes.String()).withValueSerde(totals));
        KTable<String, String> names = builder.table("names", Consumed.with(Serdes.String(), Serdes.String()).withName("names"),
                Materialized.as("names-store"));
        KTable<String, String> named = table.join(names, order -> order.customer, (order, name) -> name + order.amount,
                TableJoined.as("named"), Materialized.<String, String, org.apache.kafka.streams.state.KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("named-store")
                        .withValueSerde(Serdes.String()));
        named.toStream(Named.as("named-rows")).to("named-out", Produced.with(Serdes.String(), Serdes.String()).withName("named-out")
                .withStreamPartitioner(new ByFirst(4)));
        valid.join(names, (order, name) -> name + bonus, Joined.<String, Order, String>as("joined").withValueSerde(orders)).mapValues(
                        text -> RATE.applied(text), Named.as("rated"))
                .to((id, text, context) -> text.length() > LIMIT ? "long" : "short",
                        Produced.with(Serdes.String(), Serdes.String()).withName("by-length"));
        builder.addStateStore(Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore("seen"), Serdes.String(), Serdes.Long()));
        Discount discount = new Percent(10);
        valid.process(() -> new Dedup(discount, 3), Named.as("dedup"), "seen")
                .to("unique", Produced.with(Serdes.String(), Serdes.Long()).withName("unique"));
        valid.flatMap((id, order) -> Arrays.asList(KeyValue.pair(order.customer, 1L), KeyValue.pair(id, 2L)), Named.as("spread"))
                .peek((id, count) -> Text.log(mark + id), Named.as("logged"))
                .to("spread", Produced.with(Serdes.String(), Serdes.Long()).withName("spread-out"));
        valid.selectKey((id, order) -> new Object() {
                    String shown() {
                        return order.status + "-" + id + ending();
                    }
                }.shown(), Named.as("rekeyed"))
                .split(Named.as("split-"))
                .branch((id, order) -> order.isOpen(), Branched.withConsumer(open -> open.to("open",
                        Produced.with(Serdes.String(), orders).withName("open"))));
        Properties none = new Properties();
        return builder.build(none);
    }

    private static String ending() {
        return ".";
    }

    private static Total added(String id, Order order, Total total) {
        return total.plus(order.discounted());
    }
}
