package topologies.pairs;

import java.time.Duration;
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

    /** The join waits no more for prices that come late, and needs no buffer. */
    public Pair joinWithTableLosesItsGrace() {
        return Pair.of(
                builder -> joined(builder, versioned(), waiting(Duration.ofMinutes(1))),
                builder -> joined(builder, versioned(), Joined.as("with-price")));
    }

    /** The join waits longer for prices that come late. */
    public Pair joinWithTableWaitsLonger() {
        return Pair.of(
                builder -> joined(builder, versioned(), waiting(Duration.ofMinutes(1))),
                builder -> joined(builder, versioned(), waiting(Duration.ofMinutes(9))));
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> versioned() {
        return Materialized.as(Stores.persistentVersionedKeyValueStore("prices-table", Duration.ofDays(1)));
    }

    private static Joined<String, String, String> waiting(Duration grace) {
        return Joined.<String, String, String>as("with-price").withGracePeriod(grace);
    }

    private static void joined(
            StreamsBuilder builder, Materialized<String, String, KeyValueStore<Bytes, byte[]>> kept) {
        joined(builder, kept, Joined.as("with-price"));
    }

    private static void joined(
            StreamsBuilder builder,
            Materialized<String, String, KeyValueStore<Bytes, byte[]>> kept,
            Joined<String, String, String> how) {
        KTable<String, String> prices = builder.table("prices", Consumed.as("prices-source"), kept);
        builder.<String, String>stream("sales", Consumed.as("sales-source"))
                .join(prices, (sale, price) -> sale + "," + price, how)
                .to("priced", Produced.as("priced-sink"));
    }
}
