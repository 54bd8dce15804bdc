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

    private static void joined(
            StreamsBuilder builder, Materialized<String, String, KeyValueStore<Bytes, byte[]>> kept) {
        KTable<String, String> prices = builder.table("prices", Consumed.as("prices-source"), kept);
        builder.<String, String>stream("sales", Consumed.as("sales-source"))
                .join(prices, (sale, price) -> sale + "," + price, Joined.as("with-price"))
                .to("priced", Produced.as("priced-sink"));
    }
}
