package domains;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Fraud checks of card payments. */
public final class Payments {
    public record Payment(String card, String merchant, String country, double amount) {}

    public record Limit(String country, double highest) {}

    public record Profile(String card, String homeCountry, long payments, double total) {}

    private static final Serde<Payment> PAYMENT = new CsvSerde<>(Payment.class);
    private static final Serde<Limit> LIMIT = new CsvSerde<>(Limit.class);
    private static final Serde<Profile> PROFILE = new BinarySerde<>(Profile.class);

    /** Payments of a card are counted per five minutes, no longer per ten. */
    public Pair velocityWindowShortened() {
        return Pair.of(
                builder -> velocity(builder, Duration.ofMinutes(10)),
                builder -> velocity(builder, Duration.ofMinutes(5)));
    }

    /** The store that counted a card's payments sums their amounts now. */
    public Pair activityCountToSum() {
        return Pair.of(
                builder -> byCard(builder)
                        .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("card-activity")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Long()))
                        .toStream()
                        .to("card-activity-out", Produced.with(Serdes.String(), Serdes.Long())),
                builder -> payments(builder)
                        .mapValues(payment -> Math.round(payment.amount() * 100))
                        .groupByKey(Grouped.with(Serdes.String(), Serdes.Long()))
                        .reduce(
                                Long::sum,
                                Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("card-activity")
                                        .withKeySerde(Serdes.String())
                                        .withValueSerde(Serdes.Long()))
                        .toStream()
                        .to("card-activity-out", Produced.with(Serdes.String(), Serdes.Long())));
    }

    /** The rule of a country's limit tolerates ten per cent more. */
    public Pair limitRuleRelaxed() {
        return Pair.of(
                builder -> limits(builder, (payment, limit) -> payment.amount() > limit.highest() ? "review" : "pass"),
                builder -> limits(
                        builder, (payment, limit) -> payment.amount() > limit.highest() * 1.1 ? "review" : "pass"));
    }

    /** Payments without a customer profile are written as well: a stream joins a table, which keeps no state. */
    public Pair profileJoinToLeft() {
        return Pair.of(
                builder -> {
                    KTable<String, Profile> profiles = profiles(builder);
                    payments(builder)
                            .join(
                                    profiles,
                                    (payment, profile) -> payment.country() + "/" + profile.homeCountry(),
                                    Joined.with(Serdes.String(), PAYMENT, PROFILE).withName("with-profile"))
                            .to("payments-enriched", Produced.with(Serdes.String(), Serdes.String()));
                },
                builder -> {
                    KTable<String, Profile> profiles = profiles(builder);
                    payments(builder)
                            .leftJoin(
                                    profiles,
                                    (payment, profile) ->
                                            payment.country() + "/" + (profile == null ? "?" : profile.homeCountry()),
                                    Joined.with(Serdes.String(), PAYMENT, PROFILE).withName("with-profile"))
                            .to("payments-enriched", Produced.with(Serdes.String(), Serdes.String()));
                });
    }

    /** A card's profile is kept in a binary format, no longer as text. */
    public Pair profileFormatSwapped() {
        return Pair.of(
                builder -> profileOfPayments(builder, new CsvSerde<>(Profile.class)),
                builder -> profileOfPayments(builder, new BinarySerde<>(Profile.class)));
    }

    private static KStream<String, Payment> payments(StreamsBuilder builder) {
        return builder.stream("payments", Consumed.with(Serdes.String(), PAYMENT));
    }

    private static KGroupedStream<String, Payment> byCard(StreamsBuilder builder) {
        return payments(builder).groupByKey(Grouped.with(Serdes.String(), PAYMENT));
    }

    private static void velocity(StreamsBuilder builder, Duration size) {
        payments(builder)
                .filter((card, payment) -> payment.amount() > 0, Named.as("charges"))
                .groupByKey(Grouped.with(Serdes.String(), PAYMENT))
                .windowedBy(TimeWindows.ofSizeAndGrace(size, Duration.ofMinutes(1)))
                .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("velocity")
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Long()))
                .toStream()
                .filter((window, count) -> count > 10)
                .map((window, count) -> KeyValue.pair(window.key(), count))
                .to("suspicious-velocity", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void limits(StreamsBuilder builder, ValueJoiner<Payment, Limit, String> rule) {
        GlobalKTable<String, Limit> limits =
                builder.globalTable("limits", Consumed.with(Serdes.String(), LIMIT), Materialized.as("limits-store"));
        payments(builder)
                .join(limits, (card, payment) -> payment.country(), rule)
                .filter((card, decision) -> decision.equals("review"))
                .to("reviews", Produced.with(Serdes.String(), Serdes.String()));
    }

    private static KTable<String, Profile> profiles(StreamsBuilder builder) {
        return builder.table(
                "profiles",
                Consumed.with(Serdes.String(), PROFILE),
                Materialized.<String, Profile, KeyValueStore<Bytes, byte[]>>as("profiles-store"));
    }

    private static void profileOfPayments(StreamsBuilder builder, Serde<Profile> serde) {
        byCard(builder)
                .aggregate(
                        () -> new Profile("", "", 0, 0),
                        (card, payment, profile) -> new Profile(
                                card, payment.country(), profile.payments() + 1, profile.total() + payment.amount()),
                        Named.as("profile-of-payments"),
                        Materialized.<String, Profile, KeyValueStore<Bytes, byte[]>>as("card-profiles")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(serde))
                .toStream()
                .to("card-profiles-out", Produced.with(Serdes.String(), PROFILE));
    }
}
