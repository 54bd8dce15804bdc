package domains;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import topologies.Pair;

/** Routes of vehicles, joined as of the time of a position. */
public final class Versioned {
    /** The table of routes keeps its history. */
    public Pair routesVersioned() {
        return Pair.of(
                builder -> positions(builder, Materialized.as(Stores.persistentKeyValueStore("routes-store"))),
                builder -> positions(
                        builder,
                        Materialized.as(Stores.persistentVersionedKeyValueStore("routes-store", Duration.ofDays(2)))));
    }

    /** The history of a route is kept for a week, no longer for two days. */
    public Pair routeHistoryLengthened() {
        return Pair.of(
                builder -> positions(
                        builder,
                        Materialized.as(Stores.persistentVersionedKeyValueStore("routes-store", Duration.ofDays(2)))),
                builder -> positions(
                        builder,
                        Materialized.as(Stores.persistentVersionedKeyValueStore("routes-store", Duration.ofDays(7)))));
    }

    private static void positions(StreamsBuilder builder, Materialized<String, String, KeyValueStore<Bytes, byte[]>> routes) {
        KTable<String, String> table =
                builder.table("routes", Consumed.with(Serdes.String(), Serdes.String()), routes);
        builder.stream("positions", Consumed.with(Serdes.String(), Serdes.String()))
                .join(
                        table,
                        (position, route) -> position + " on " + route,
                        Joined.with(Serdes.String(), Serdes.String(), Serdes.String()).withName("on-route"))
                .to("positions-on-routes", Produced.with(Serdes.String(), Serdes.String()));
    }
}
