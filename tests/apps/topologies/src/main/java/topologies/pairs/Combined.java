package topologies.pairs;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.maxRecords;
import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.unbounded;
import static org.apache.kafka.streams.kstream.Suppressed.untilWindowCloses;

import java.time.Duration;
import java.util.List;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Windowed;
import topologies.Pair;
import topologies.Windows;

/** Two changes in one release. */
public final class Combined {

    /** A filter goes in front of the unnamed count, and the results go to another topic. */
    public Pair filterBeforeUnnamedCountAndSinkTopicChanged() {
        return Pair.of(
                builder -> unnamed(builder).groupByKey().count().toStream().to("sales-counted"),
                builder -> unnamed(builder)
                        .filter((shop, sale) -> !sale.isEmpty())
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("sales-per-shop"));
    }

    /** The store has another name, and the windows are smaller. */
    public Pair storeRenamedAndWindowMadeSmaller() {
        return Pair.of(
                builder -> out(perWindow(sales(builder), ofHours(1), ofMinutes(5), "sales-store")),
                builder -> out(perWindow(sales(builder), ofMinutes(10), ofMinutes(5), "shop-sales")));
    }

    /** Sales are counted by their currency, and a second topic is read. */
    public Pair groupByAddedAndSourceTopicAdded() {
        return Pair.of(
                builder -> count(sales(builder).groupByKey(Grouped.as("group")), "sales-store"),
                builder -> count(
                        sales(builder, "sales", "sales-online").groupBy((shop, sale) -> sale, Grouped.as("group")),
                        "sales-store"));
    }

    /** Results are held back until the window ends, and late sales are waited for longer. */
    public Pair namedSuppressAddedAndGraceMadeLonger() {
        return Pair.of(
                builder -> out(perWindow(sales(builder), ofHours(1), ofMinutes(5), "sales-store")),
                builder -> out(perWindow(sales(builder), ofHours(1), ofMinutes(30), "sales-store")
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** The suppression is removed, and the windows are larger. */
    public Pair namedSuppressRemovedAndWindowMadeLarger() {
        return Pair.of(
                builder -> out(perWindow(sales(builder), ofHours(1), ofMinutes(5), "sales-store")
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))),
                builder -> out(perWindow(sales(builder), ofHours(4), ofMinutes(5), "sales-store")));
    }

    /** The suppression's memory gets a bound, and the suppression another name. */
    public Pair suppressRenamedAndBufferBounded() {
        return Pair.of(
                builder -> out(perWindow(sales(builder), ofHours(1), ofMinutes(5), "sales-store")
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))),
                builder -> out(perWindow(sales(builder), ofHours(1), ofMinutes(5), "sales-store")
                        .suppress(untilWindowCloses(maxRecords(1_000).shutDownWhenFull()).withName("closed"))));
    }

    /** The grouping and the store have other names. */
    public Pair groupingAndStoreRenamed() {
        return Pair.of(
                builder -> count(sales(builder).groupBy((shop, sale) -> sale, Grouped.as("by-article")), "sales-store"),
                builder -> count(sales(builder)
                        .groupBy((shop, sale) -> sale, Grouped.as("by-product")), "product-sales"));
    }

    /** The grouping has another name, and it takes another key. */
    public Pair groupingRenamedAndOtherKey() {
        return Pair.of(
                builder -> count(sales(builder).groupBy((shop, sale) -> sale, Grouped.as("by-article")), "sales-store"),
                builder -> count(sales(builder)
                        .groupBy((shop, sale) -> sale.substring(1), Grouped.as("by-code")), "sales-store"));
    }

    /** A global table is declared in front of the stream, and a filter is put in front of the unnamed count. */
    public Pair globalTableAddedBeforeUnnamedCountWithFilter() {
        return Pair.of(
                builder -> unnamed(builder).groupByKey().count().toStream().to("sales-counted"),
                builder -> {
                    GlobalKTable<String, String> shops = builder.globalTable("shops");
                    unnamed(builder)
                            .filter((shop, sale) -> !sale.isEmpty())
                            .join(shops, (shop, sale) -> shop, (sale, shop) -> sale + shop)
                            .groupByKey()
                            .count()
                            .toStream()
                            .to("sales-counted");
                });
    }

    /** The output has other keys and goes to another topic. */
    public Pair outputKeyAndSinkTopicChanged() {
        return Pair.of(
                builder -> counts(sales(builder).groupByKey(Grouped.as("group")), "sales-store")
                        .to("sales-counted", Produced.as("out")),
                builder -> counts(sales(builder).groupByKey(Grouped.as("group")), "sales-store")
                        .selectKey((shop, count) -> "shop-" + shop, Named.as("output-key"))
                        .to("sales-per-shop", Produced.as("out")));
    }

    /** The first of two independent parts is removed, and the store of the other has another name. */
    public Pair firstSubtopologyRemovedAndStoreRenamed() {
        return Pair.of(
                builder -> {
                    builder.<String, String>stream("returns", Consumed.as("returns-source"))
                            .to("returns-copy", Produced.as("returns-sink"));
                    count(sales(builder).groupByKey(Grouped.as("group")), "sales-store");
                },
                builder -> count(sales(builder).groupByKey(Grouped.as("group")), "shop-sales"));
    }

    /** An independent part is put in front, and the repartition topic of the other is not needed any more. */
    public Pair subtopologyAddedInFrontAndRepartitionRemoved() {
        return Pair.of(
                builder -> count(sales(builder).groupBy((shop, sale) -> shop, Grouped.as("group")), "sales-store"),
                builder -> {
                    builder.<String, String>stream("returns", Consumed.as("returns-source"))
                            .to("returns-copy", Produced.as("returns-sink"));
                    count(sales(builder).groupByKey(Grouped.as("group")), "sales-store");
                });
    }

    /** Two unnamed counts change places, and the second one gets a filter. */
    public Pair unnamedCountsSwappedAndFilterAdded() {
        return Pair.of(
                builder -> {
                    unnamedCount(builder.stream("sales"), "sales-counted");
                    unnamedCount(builder.stream("returns"), "returns-counted");
                },
                builder -> {
                    unnamedCount(builder.stream("returns"), "returns-counted");
                    unnamedCount(builder.<String, String>stream("sales")
                            .filter((shop, sale) -> !sale.isEmpty()), "sales-counted");
                });
    }

    /** Optimization is switched on while a filter is put in front of two counts behind one key. */
    public Pair optimizationEnabledAndFilterAdded() {
        return Pair.of(
                builder -> twoCounts(sales(builder)), Pair.optimization("none"),
                builder -> twoCounts(sales(builder).filter((shop, sale) -> !sale.isEmpty(), Named.as("only-sales"))),
                Pair.optimization("all"));
    }

    /** Names are given to the stateless operators, and a mapValues computes something else. */
    public Pair namesAddedAndLambdaChanged() {
        return Pair.of(
                builder -> unnamed(builder).mapValues(sale -> sale.trim()).to("sales-copy"),
                builder -> builder.<String, String>stream("sales", Consumed.as("sales-source"))
                        .mapValues(sale -> sale.strip(), Named.as("strip"))
                        .to("sales-copy", Produced.as("out")));
    }

    /** Windows are larger and kept longer, and the key is another one. */
    public Pair windowMadeLargerAndOtherKey() {
        return Pair.of(
                builder -> out(perWindow(sales(builder).selectKey((shop, sale) -> sale, Named.as("key")),
                        ofHours(1), ofMinutes(5), "sales-store")),
                builder -> out(perWindow(sales(builder).selectKey((shop, sale) -> sale.substring(1), Named.as("key")),
                        ofHours(4), ofMinutes(5), "sales-store")));
    }

    /** A named filter is put in front of the named count, and the grace is longer. */
    public Pair filterBeforeNamedCountAndGraceMadeLonger() {
        return Pair.of(
                builder -> out(perWindow(sales(builder), ofHours(1), ofMinutes(5), "sales-store")),
                builder -> out(perWindow(sales(builder).filter((shop, sale) -> !sale.isEmpty(), Named.as("only-sales")),
                        ofHours(1), ofMinutes(30), "sales-store")));
    }

    /** A source topic is removed, and the sink's topic is another one. */
    public Pair sourceTopicRemovedAndSinkTopicChanged() {
        return Pair.of(
                builder -> sales(builder, "sales", "sales-online").to("sales-copy", Produced.as("out")),
                builder -> sales(builder, "sales").to("sales-archive", Produced.as("out")));
    }

    /** The unnamed count loses the filter before it, and another unnamed count is put behind it. */
    public Pair filterRemovedBeforeUnnamedCountAndCountAddedBehind() {
        return Pair.of(
                builder -> unnamedCount(unnamed(builder).filter((shop, sale) -> !sale.isEmpty()), "sales-counted"),
                builder -> {
                    unnamedCount(unnamed(builder), "sales-counted");
                    unnamedCount(builder.stream("returns"), "returns-counted");
                });
    }

    private static KStream<String, String> unnamed(StreamsBuilder builder) {
        return builder.stream("sales");
    }

    private static void unnamedCount(KStream<String, String> stream, String topic) {
        stream.groupByKey().count().toStream().to(topic);
    }

    private static KStream<String, String> sales(StreamsBuilder builder, String... topics) {
        return builder.stream(topics.length == 0 ? List.of("sales") : List.of(topics), Consumed.as("sales-source"));
    }

    private static KTable<Windowed<String>, Long> perWindow(
            KStream<String, String> sales, Duration size, Duration grace, String store) {
        return sales.groupByKey(Grouped.as("group"))
                .windowedBy(Windows.tumbling(size, grace))
                .count(Named.as("count-sales"), Materialized.as(store));
    }

    private static void out(KTable<Windowed<String>, Long> counts) {
        counts.toStream(Named.as("changes")).to("sales-counted", Produced.as("out"));
    }

    private static KStream<String, Long> counts(KGroupedStream<String, String> sales, String store) {
        return sales.count(Named.as("count-sales"), Materialized.as(store)).toStream(Named.as("changes"));
    }

    private static void count(KGroupedStream<String, String> sales, String store) {
        counts(sales, store).to("sales-counted", Produced.as("out"));
    }

    private static void twoCounts(KStream<String, String> sales) {
        KStream<String, String> byArticle = sales.selectKey((shop, sale) -> sale, Named.as("article-key"));
        byArticle.groupByKey(Grouped.as("all")).count(Named.as("all-count"), Materialized.as("all-store"));
        byArticle.filter((article, sale) -> article.length() > 3, Named.as("long"))
                .groupByKey(Grouped.as("long-group"))
                .count(Named.as("long-count"), Materialized.as("long-store"));
    }
}
