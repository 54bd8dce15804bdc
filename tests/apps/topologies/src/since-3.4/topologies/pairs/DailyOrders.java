package topologies.pairs;

import java.time.Duration;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import topologies.Pair;

/** The application with names of its own of the upgrade guide. */
public final class DailyOrders {

    /** Orders are grouped by the cleaned key instead of the key as it is. */
    public Pair dailyOrdersGroupedByCleanedKey() {
        return Pair.of(
                builder -> builder.stream("orders-by-customer", Consumed.as("DailyOrders"))
                        .groupByKey(Grouped.as("GroupOrders"))
                        .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofDays(1), Duration.ofHours(2)))
                        .reduce(this::combineOrders, Named.as("AggregateDailyOrders"), Materialized.as("orders"))
                        .toStream(Named.as("OrdersToStream"))
                        .to("order-forms-to-ship", Produced.as("ShipOrders")),
                builder -> builder.stream("orders-by-customer", Consumed.as("DailyOrders"))
                        .groupBy((k, v)-> removeRestrictedChars(k), Grouped.as("GroupOrders")) // changed line
                        .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofDays(1), Duration.ofHours(2)))
                        .reduce(this::combineOrders, Named.as("AggregateDailyOrders"), Materialized.as("orders"))
                        .toStream(Named.as("OrdersToStream"))
                        .to("order-forms-to-ship", Produced.as("ShipOrders")));
    }

    private Object combineOrders(Object one, Object other) {
        return one + "," + other;
    }

    private Object removeRestrictedChars(Object key) {
        return key.toString().replaceAll("[^A-Za-z0-9-]", "");
    }
}
