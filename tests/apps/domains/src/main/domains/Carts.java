package domains;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Aggregator;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.RecordContext;
import org.apache.kafka.streams.processor.TopicNameExtractor;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Shopping carts. */
public final class Carts {
    public record Item(String cart, String product, long quantity, double price) {}

    public record Cart(long items, double total) {}

    public record Product(String product, String title) {}

    public record PricedProduct(String product, String title, double price) {}

    private static final Serde<Item> ITEM = new BinarySerde<>(Item.class);
    private static final Serde<Cart> CART = new BinarySerde<>(Cart.class);

    /** A cart counts pieces, no longer lines: the aggregator changes inside a lambda. */
    public Pair cartCountsPieces() {
        return Pair.of(
                builder -> carts(builder, (cart, item, sum) -> new Cart(sum.items() + 1, sum.total() + item.price())),
                builder -> carts(builder, (cart, item, sum) -> new Cart(
                        sum.items() + item.quantity(), sum.total() + item.price() * item.quantity())));
    }

    /** Checkouts are written to one topic for each country, no longer to one for all. */
    public Pair checkoutTopicsPerCountry() {
        return Pair.of(
                builder -> checkouts(builder).to("checkouts-clean", Produced.with(Serdes.String(), Serdes.String())),
                builder -> checkouts(builder).to(new ByCountry(), Produced.with(Serdes.String(), Serdes.String())));
    }

    /** Abandoned carts are found in windows of an hour, no longer in sessions, in the store of the same name. */
    public Pair abandonedSessionsToWindows() {
        return Pair.of(
                builder -> items(builder)
                        .groupByKey()
                        .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(Duration.ofMinutes(30)))
                        .count(Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("cart-activity"))
                        .toStream((session, count) -> session.key())
                        .to("cart-activity-out", Produced.with(Serdes.String(), Serdes.Long())),
                builder -> items(builder)
                        .groupByKey()
                        .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofHours(1)))
                        .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("cart-activity"))
                        .toStream((window, count) -> window.key())
                        .to("cart-activity-out", Produced.with(Serdes.String(), Serdes.Long())));
    }

    /** Products have a price: the table is read as another class. */
    public Pair productsWithPrice() {
        return Pair.of(
                builder -> {
                    KTable<String, Product> products = builder.table(
                            "products",
                            Consumed.with(Serdes.String(), new BinarySerde<>(Product.class)),
                            Materialized.as("products-store"));
                    titled(builder).join(products, (item, product) -> product.title() + " x " + item.quantity(),
                                    Joined.with(Serdes.String(), ITEM, new BinarySerde<>(Product.class)))
                            .to("titled-items", Produced.with(Serdes.String(), Serdes.String()));
                },
                builder -> {
                    KTable<String, PricedProduct> products = builder.table(
                            "products",
                            Consumed.with(Serdes.String(), new BinarySerde<>(PricedProduct.class)),
                            Materialized.as("products-store"));
                    titled(builder).join(products, (item, product) -> product.title() + " x " + item.quantity(),
                                    Joined.with(Serdes.String(), ITEM, new BinarySerde<>(PricedProduct.class)))
                            .to("titled-items", Produced.with(Serdes.String(), Serdes.String()));
                });
    }

    /** The same program, tidied up: lambdas become methods, a chain becomes variables. */
    public Pair tidiedUp() {
        return Pair.of(
                builder -> builder.stream("items", Consumed.with(Serdes.String(), ITEM))
                        .filter((cart, item) -> item.quantity() > 0)
                        .mapValues(item -> item.price() * item.quantity())
                        .groupByKey(Grouped.with("prices-by-cart", Serdes.String(), Serdes.Double()))
                        .reduce((sum, price) -> sum + price, totals())
                        .toStream()
                        .to("cart-totals-out", Produced.with(Serdes.String(), Serdes.Double())),
                builder -> {
                    KStream<String, Item> valid = items(builder).filter(Carts::isValid);
                    KTable<String, Double> sums = valid.mapValues(Carts::price)
                            .groupByKey(Grouped.with("prices-by-cart", Serdes.String(), Serdes.Double()))
                            .reduce(Double::sum, totals());
                    sums.toStream().to("cart-totals-out", Produced.with(Serdes.String(), Serdes.Double()));
                });
    }

    private static KStream<String, Item> items(StreamsBuilder builder) {
        return builder.stream("items", Consumed.with(Serdes.String(), ITEM));
    }

    private static boolean isValid(String cart, Item item) {
        return item.quantity() > 0;
    }

    private static double price(Item item) {
        return item.price() * item.quantity();
    }

    private static Materialized<String, Double, KeyValueStore<Bytes, byte[]>> totals() {
        return Materialized.<String, Double, KeyValueStore<Bytes, byte[]>>as("cart-totals")
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Double());
    }

    private static void carts(StreamsBuilder builder, Aggregator<String, Item, Cart> adding) {
        items(builder)
                .groupByKey(Grouped.with(Serdes.String(), ITEM))
                .aggregate(
                        () -> new Cart(0, 0),
                        adding,
                        Materialized.<String, Cart, KeyValueStore<Bytes, byte[]>>as("carts-store")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(CART)
                                .withCachingDisabled())
                .toStream()
                .to("carts", Produced.with(Serdes.String(), CART));
    }

    private static KStream<String, String> checkouts(StreamsBuilder builder) {
        return builder.stream("checkouts", Consumed.with(Serdes.String(), Serdes.String()))
                .filter((cart, country) -> country != null && !country.isBlank());
    }

    private static KStream<String, Item> titled(StreamsBuilder builder) {
        return items(builder)
                .selectKey((cart, item) -> item.product())
                .repartition(org.apache.kafka.streams.kstream.Repartitioned.with(Serdes.String(), ITEM)
                        .withName("items-by-product"));
    }

    private static final class ByCountry implements TopicNameExtractor<String, String> {
        @Override
        public String extract(String key, String value, RecordContext context) {
            return "checkouts-" + value;
        }
    }
}
