package domains;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindowedKStream;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Prices of shares. */
public final class Stocks {
    public record Tick(String symbol, double price, long volume) {}

    public record Bar(double open, double high, double low, double close) {}

    public record Traded(double money, long volume) {}

    private static final Serde<Tick> TICK = new CsvSerde<>(Tick.class);
    private static final Serde<Bar> BAR = new BinarySerde<>(Bar.class);

    /** Bars of a minute begin every thirty seconds, no longer every ten. */
    public Pair barAdvanceTripled() {
        return Pair.of(
                builder -> bars(builder, Duration.ofSeconds(10)), builder -> bars(builder, Duration.ofSeconds(30)));
    }

    /** A volume is written when its window closes, no longer at each tick. */
    public Pair volumesEmittedOnClose() {
        return Pair.of(
                builder -> volumes(builder, EmitStrategy.onWindowUpdate()),
                builder -> volumes(builder, EmitStrategy.onWindowClose()));
    }

    /** The traded money is kept in the second version of its format. */
    public Pair tradedFormatVersionTwo() {
        return Pair.of(
                builder -> traded(builder, new BinarySerde<>(Traded.class, 1)),
                builder -> traded(builder, new BinarySerde<>(Traded.class, 2)));
    }

    /** The windows of the last prices survive a restart on the disk, no longer in memory alone. */
    public Pair priceWindowsToDisk() {
        Duration retention = Duration.ofHours(1);
        Duration size = Duration.ofMinutes(1);
        return Pair.of(
                builder -> prices(builder, Stores.inMemoryWindowStore("price-windows", retention, size, false)),
                builder -> prices(builder, Stores.persistentWindowStore("price-windows", retention, size, false)));
    }

    /** The master data of a share is joined from a table, no longer from a global table. */
    public Pair symbolsGlobalToTable() {
        Serde<String> text = Serdes.String();
        return Pair.of(
                builder -> ticks(builder)
                        .join(
                                builder.globalTable("symbols", Consumed.with(text, text), Materialized.as("symbols-store")),
                                (symbol, tick) -> symbol,
                                (tick, name) -> name + " " + tick.price())
                        .to("named-prices", Produced.with(text, text)),
                builder -> ticks(builder)
                        .join(
                                builder.table("symbols", Consumed.with(text, text), Materialized.as("symbols-store")),
                                (tick, name) -> name + " " + tick.price(),
                                Joined.with(text, TICK, text))
                        .to("named-prices", Produced.with(text, text)));
    }

    private static KStream<String, Tick> ticks(StreamsBuilder builder) {
        return builder.stream("ticks", Consumed.with(Serdes.String(), TICK));
    }

    private static void bars(StreamsBuilder builder, Duration advance) {
        TimeWindows minute = TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofSeconds(5));
        ticks(builder)
                .groupByKey()
                .windowedBy(minute.advanceBy(advance))
                .aggregate(
                        () -> new Bar(0, 0, Double.MAX_VALUE, 0),
                        (symbol, tick, bar) -> new Bar(
                                bar.open() == 0 ? tick.price() : bar.open(),
                                Math.max(bar.high(), tick.price()),
                                Math.min(bar.low(), tick.price()),
                                tick.price()),
                        Materialized.<String, Bar, WindowStore<Bytes, byte[]>>as("bars-store").withValueSerde(BAR))
                .toStream()
                .map((window, bar) -> KeyValue.pair(window.key(), bar))
                .to("bars", Produced.with(Serdes.String(), BAR));
    }

    private static void volumes(StreamsBuilder builder, EmitStrategy emit) {
        TimeWindowedKStream<String, Long> windows = ticks(builder)
                .mapValues(Tick::volume)
                .groupByKey(Grouped.with("volumes-by-symbol", Serdes.String(), Serdes.Long()))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(5), Duration.ofSeconds(30)))
                .emitStrategy(emit);
        windows.reduce(
                        Long::sum,
                        Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("volumes-store")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Long()))
                .toStream((window, volume) -> window.key())
                .to("volumes", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void traded(StreamsBuilder builder, Serde<Traded> serde) {
        ticks(builder)
                .groupByKey()
                .aggregate(
                        () -> new Traded(0, 0),
                        (symbol, tick, sum) -> new Traded(
                                sum.money() + tick.price() * tick.volume(), sum.volume() + tick.volume()),
                        Named.as("sum-of-trades"),
                        Materialized.<String, Traded, KeyValueStore<Bytes, byte[]>>as("traded-store")
                                .withValueSerde(serde))
                .toStream(Named.as("traded-updates"))
                .mapValues(sum -> sum.money() / sum.volume(), Named.as("average-price"))
                .to("average-prices", Produced.with(Serdes.String(), Serdes.Double()));
    }

    private static void prices(StreamsBuilder builder, WindowBytesStoreSupplier store) {
        ticks(builder)
                .mapValues(Tick::price)
                .groupByKey(Grouped.with(Serdes.String(), Serdes.Double()))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofSeconds(10)))
                .reduce((old, price) -> price, Materialized.<String, Double>as(store)
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Double()))
                .toStream((window, price) -> window.key())
                .to("minute-prices", Produced.with(Serdes.String(), Serdes.Double()));
    }
}
