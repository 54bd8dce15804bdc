package domains;

import java.time.Duration;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import topologies.Pair;

/** Rides and their drivers. */
public final class Rides {
    public record Driver(String driver, String vehicle, String fleet) {}

    public record Trip(String trip, String area, double price) {}

    private static final Serde<Trip> TRIP = new CsvSerde<>(Trip.class);

    /** A driver is joined with the fleet, no longer with the vehicle: the foreign key changes inside a lambda. */
    public Pair driverForeignKeyChanged() {
        return Pair.of(builder -> drivers(builder, Driver::vehicle), builder -> drivers(builder, Driver::fleet));
    }

    /** The unnamed store of the demand per area gets a name. */
    public Pair demandStoreNamed() {
        TimeWindows windows = TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(5));
        return Pair.of(
                builder -> trips(builder)
                        .groupBy((trip, one) -> one.area(), Grouped.with(Serdes.String(), TRIP))
                        .windowedBy(windows)
                        .count()
                        .toStream((window, count) -> window.key())
                        .to("demand", Produced.with(Serdes.String(), Serdes.Long())),
                builder -> trips(builder)
                        .groupBy((trip, one) -> one.area(), Grouped.with(Serdes.String(), TRIP))
                        .windowedBy(windows)
                        .count(Materialized.as("demand-store"))
                        .toStream((window, count) -> window.key())
                        .to("demand", Produced.with(Serdes.String(), Serdes.Long())));
    }

    /** Payments without a trip are written too: a left join becomes an outer one. */
    public Pair tripJoinToOuter() {
        return Pair.of(builder -> paid(builder, false), builder -> paid(builder, true));
    }

    /** Prices of areas are published every five seconds, no longer every ten. */
    public Pair publishingIntervalHalved() {
        return Pair.of(
                builder -> areas(builder, Duration.ofSeconds(10)), builder -> areas(builder, Duration.ofSeconds(5)));
    }

    /** Trips of a partner are counted as well: a second topic is merged in. */
    public Pair partnerTripsMerged() {
        return Pair.of(
                builder -> perArea(trips(builder)),
                builder -> perArea(trips(builder)
                        .merge(
                                builder.stream(
                                        "partner-trips",
                                        Consumed.with(Serdes.String(), TRIP).withName("partner-source")),
                                Named.as("all-trips"))));
    }

    private static KStream<String, Trip> trips(StreamsBuilder builder) {
        return builder.stream("trips", Consumed.with(Serdes.String(), TRIP).withName("trips-source"));
    }

    private static void drivers(StreamsBuilder builder, Function<Driver, String> foreignKey) {
        KTable<String, Driver> drivers = builder.table(
                "drivers",
                Consumed.with(Serdes.String(), new BinarySerde<>(Driver.class)),
                Materialized.as("drivers-store"));
        KTable<String, String> places = builder.table(
                "places", Consumed.with(Serdes.String(), Serdes.String()), Materialized.as("places-store"));
        drivers.join(
                        places,
                        foreignKey,
                        (driver, place) -> driver.driver() + " at " + place,
                        TableJoined.as("driver-place"),
                        Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("driver-places")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.String()))
                .toStream()
                .to("driver-places-out", Produced.with(Serdes.String(), Serdes.String()));
    }

    private static void paid(StreamsBuilder builder, boolean outer) {
        KStream<String, Trip> trips = trips(builder);
        KStream<String, String> payments =
                builder.stream("trip-payments", Consumed.with(Serdes.String(), Serdes.String()));
        JoinWindows window = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofHours(1), Duration.ofMinutes(5));
        StreamJoined<String, Trip, String> joined = StreamJoined.with(Serdes.String(), TRIP, Serdes.String())
                .withName("paid-trips")
                .withStoreName("paid-trips-store");
        KStream<String, String> both = outer
                ? trips.outerJoin(payments, (trip, payment) -> trip + "/" + payment, window, joined)
                : trips.leftJoin(payments, (trip, payment) -> trip + "/" + payment, window, joined);
        both.to("paid-trips", Produced.with(Serdes.String(), Serdes.String()));
    }

    private static void areas(StreamsBuilder builder, Duration interval) {
        trips(builder)
                .selectKey((trip, one) -> one.area(), Named.as("area"))
                .repartition(org.apache.kafka.streams.kstream.Repartitioned.with(Serdes.String(), TRIP)
                        .withName("trips-by-area"))
                .process(new AreaPrices(interval), Named.as("area-prices"))
                .to("area-prices", Produced.with(Serdes.String(), Serdes.Double()));
    }

    private static void perArea(KStream<String, Trip> trips) {
        trips.groupBy((trip, one) -> one.area(), Grouped.with("trips-by-area", Serdes.String(), TRIP))
                .count(Named.as("count-trips"), Materialized.as("area-trips"))
                .toStream(Named.as("trip-counts"))
                .to("trips-per-area", Produced.with(Serdes.String(), Serdes.Long()).withName("area-sink"));
    }

    private record AreaPrices(Duration interval) implements ProcessorSupplier<String, Trip, String, Double> {
        @Override
        public Processor<String, Trip, String, Double> get() {
            return new AreaPrice(interval);
        }

        @Override
        public Set<StoreBuilder<?>> stores() {
            return Set.of(Stores.keyValueStoreBuilder(
                    Stores.inMemoryKeyValueStore("area-price"), Serdes.String(), Serdes.Double()));
        }
    }

    private static final class AreaPrice implements Processor<String, Trip, String, Double> {
        private final Duration interval;
        private KeyValueStore<String, Double> prices;

        private AreaPrice(Duration interval) {
            this.interval = interval;
        }

        @Override
        public void init(ProcessorContext<String, Double> context) {
            prices = context.getStateStore("area-price");
            context.schedule(interval, PunctuationType.WALL_CLOCK_TIME, now -> {
                try (var all = prices.all()) {
                    all.forEachRemaining(one -> context.forward(new Record<>(one.key, one.value, now)));
                }
            });
        }

        @Override
        public void process(Record<String, Trip> record) {
            prices.put(record.key(), record.value().price());
        }
    }
}
