package topologies.pairs;

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

/** Stores that keep the earlier values of a key. */
public final class VersionedStores {

    /** The store of a table that a stream is joined with becomes versioned: the description stays. */
    public Pair storeOfJoinedTableBecomesVersioned() {
        return Pair.of(
                builder -> joined(builder, Materialized.as("prices-table")),
                builder -> joined(
                        builder,
                        Materialized.as(Stores.persistentVersionedKeyValueStore("prices-table", Duration.ofDays(1)))));
    }

    /** A sale waits longer for its price: the join has a buffer. */
    public Pair graceOfJoinWithTableMadeLonger() {
        return Pair.of(builder -> waiting(builder, withPrice(10)), builder -> waiting(builder, withPrice(20)));
    }

    /** A sale does not wait for its price any more, and the buffer goes. */
    public Pair graceOfJoinWithTableRemoved() {
        return Pair.of(builder -> waiting(builder, withPrice(10)), builder -> waiting(builder, withPrice(0)));
    }

    /** A sale without a price is in the results from now on; the table has the only store. */
    public Pair joinWithTableBecomesLeftJoin() {
        return Pair.of(
                builder -> joined(builder, Materialized.as("prices-table")),
                builder -> builder.<String, String>stream("sales", Consumed.as("sales-source"))
                        .leftJoin(
                                prices(builder, Materialized.as("prices-table")),
                                (sale, price) -> sale + "," + price,
                                Joined.as("with-price"))
                        .to("priced", Produced.as("priced-sink")));
    }

    private static Joined<String, String, String> withPrice(int graceMinutes) {
        Joined<String, String, String> joined = Joined.<String, String, String>as("with-price")
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.String());
        return graceMinutes == 0 ? joined : joined.withGracePeriod(Duration.ofMinutes(graceMinutes));
    }

    private static void waiting(StreamsBuilder builder, Joined<String, String, String> withPrice) {
        KTable<String, String> prices = builder.table(
                "prices",
                Consumed.<String, String>as("prices-source"),
                Materialized.as(Stores.persistentVersionedKeyValueStore("prices-table", Duration.ofDays(1))));
        builder.<String, String>stream("sales", Consumed.as("sales-source"))
                .join(prices, (sale, price) -> sale + "," + price, withPrice)
                .to("priced", Produced.as("priced-sink"));
    }

    private static KTable<String, String> prices(
            StreamsBuilder builder, Materialized<String, String, KeyValueStore<Bytes, byte[]>> kept) {
        return builder.table("prices", Consumed.as("prices-source"), kept);
    }

    private static void joined(
            StreamsBuilder builder, Materialized<String, String, KeyValueStore<Bytes, byte[]>> kept) {
        KTable<String, String> prices = prices(builder, kept);
        builder.<String, String>stream("sales", Consumed.as("sales-source"))
                .join(prices, (sale, price) -> sale + "," + price, Joined.as("with-price"))
                .to("priced", Produced.as("priced-sink"));
    }
}
