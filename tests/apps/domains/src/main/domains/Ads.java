package domains;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
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
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Impressions and clicks of advertisements. */
public final class Ads {
    public record Impression(String ad, String campaign, String user) {}

    public record Click(String ad, String user) {}

    public record Ad(String ad, String campaign) {}

    public record Campaign(String campaign, String client) {}

    private static final Serde<Impression> IMPRESSION = new BinarySerde<>(Impression.class);
    private static final Serde<Click> CLICK = new BinarySerde<>(Click.class);

    /** A click counts half an hour after the impression, no longer ten minutes. */
    public Pair attributionWindowWidened() {
        return Pair.of(
                builder -> attributed(builder, Duration.ofMinutes(10), false),
                builder -> attributed(builder, Duration.ofMinutes(30), false));
    }

    /** Impressions without a click are written as well, which needs one more store. */
    public Pair attributionToLeftJoin() {
        return Pair.of(
                builder -> attributed(builder, Duration.ofMinutes(10), false),
                builder -> attributed(builder, Duration.ofMinutes(10), true));
    }

    /** Ads of an unknown campaign stay in the table: an inner foreign-key join becomes a left one. */
    public Pair campaignJoinToLeft() {
        return Pair.of(
                builder -> {
                    KTable<String, Campaign> campaigns = campaigns(builder);
                    ads(builder)
                            .join(
                                    campaigns,
                                    Ad::campaign,
                                    (ad, campaign) -> campaign.client(),
                                    TableJoined.as("ad-campaign"),
                                    clients())
                            .toStream()
                            .to("clients-of-ads", Produced.with(Serdes.String(), Serdes.String()));
                },
                builder -> {
                    KTable<String, Campaign> campaigns = campaigns(builder);
                    ads(builder)
                            .leftJoin(
                                    campaigns,
                                    Ad::campaign,
                                    (ad, campaign) -> campaign == null ? "unknown" : campaign.client(),
                                    TableJoined.as("ad-campaign"),
                                    clients())
                            .toStream()
                            .to("clients-of-ads", Produced.with(Serdes.String(), Serdes.String()));
                });
    }

    /** Late clicks count for ten minutes, no longer for one. */
    public Pair clickGraceLengthened() {
        return Pair.of(
                builder -> clickCounts(builder, Duration.ofMinutes(1)),
                builder -> clickCounts(builder, Duration.ofMinutes(10)));
    }

    /** Clicks are written by campaign group, no longer by the default partitioner. */
    public Pair clickPartitionerAdded() {
        return Pair.of(
                builder -> clicks(builder).to("clicks-clean", Produced.with(Serdes.String(), CLICK)),
                builder -> clicks(builder)
                        .to("clicks-clean", Produced.with(Serdes.String(), CLICK, new ByPrefix<Click>())));
    }

    private static KStream<String, Click> clicks(StreamsBuilder builder) {
        return builder.stream("clicks", Consumed.with(Serdes.String(), CLICK))
                .filterNot((ad, click) -> click.user().startsWith("bot-"));
    }

    private static void attributed(StreamsBuilder builder, Duration within, boolean left) {
        KStream<String, Impression> impressions =
                builder.stream("impressions", Consumed.with(Serdes.String(), IMPRESSION));
        KStream<String, Click> clicks = builder.stream("clicks", Consumed.with(Serdes.String(), CLICK));
        JoinWindows window = JoinWindows.ofTimeDifferenceAndGrace(within, Duration.ofMinutes(2));
        StreamJoined<String, Impression, Click> joined = StreamJoined.with(Serdes.String(), IMPRESSION, CLICK)
                .withName("attribution")
                .withStoreName("attribution-store");
        KStream<String, String> pairs = left
                ? impressions.leftJoin(
                        clicks, (shown, click) -> click == null ? "none" : click.user(), window, joined)
                : impressions.join(clicks, (shown, click) -> click.user(), window, joined);
        pairs.to("attributed", Produced.with(Serdes.String(), Serdes.String()));
    }

    private static KTable<String, Ad> ads(StreamsBuilder builder) {
        return builder.table(
                "ads", Consumed.with(Serdes.String(), new BinarySerde<>(Ad.class)), Materialized.as("ads-store"));
    }

    private static KTable<String, Campaign> campaigns(StreamsBuilder builder) {
        return builder.table(
                "campaigns",
                Consumed.with(Serdes.String(), new BinarySerde<>(Campaign.class)),
                Materialized.as("campaigns-store"));
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> clients() {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("clients-store")
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.String());
    }

    private static void clickCounts(StreamsBuilder builder, Duration grace) {
        clicks(builder)
                .groupBy((ad, click) -> click.user(), Grouped.with("clicks-by-user", Serdes.String(), CLICK))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(15), grace))
                .count(
                        Named.as("count-clicks"),
                        Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("click-counts")
                                .withValueSerde(Serdes.Long())
                                .withRetention(Duration.ofHours(6)))
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("click-final"))
                .toStream((window, count) -> window.key() + "@" + window.window().start())
                .to("clicks-per-user", Produced.with(Serdes.String(), Serdes.Long()));
    }

    /** Keys with one prefix are in one partition. */
    public static final class ByPrefix<V> implements StreamPartitioner<String, V> {
        public Optional<Set<Integer>> partitions(String topic, String key, V value, int count) {
            return Optional.of(Set.of(Math.floorMod(key.split("-")[0].hashCode(), count)));
        }

        /** For releases before 4.0. */
        public Integer partition(String topic, String key, V value, int count) {
            return Math.floorMod(key.split("-")[0].hashCode(), count);
        }
    }
}
