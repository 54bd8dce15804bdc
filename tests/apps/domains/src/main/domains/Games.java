package domains;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Aggregator;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Predicate;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import topologies.Pair;

/** Matches of players. */
public final class Games {
    public record Result(String player, String mode, long points) {}

    private static final Serde<Result> RESULT = new CsvSerde<>(Result.class);

    /** The leaderboard shows the sum of a player's points, no longer the best match. */
    public Pair bestScoreToTotal() {
        return Pair.of(builder -> leaderboard(builder, new Best()), builder -> leaderboard(builder, new Total()));
    }

    /** A session of a player ends after fifteen minutes without a match, no longer thirty. */
    public Pair playSessionGapHalved() {
        return Pair.of(
                builder -> sessions(builder, Duration.ofMinutes(30)),
                builder -> sessions(builder, Duration.ofMinutes(15)));
    }

    /** Each update of the number of matches is written at once: the store is not cached any more. */
    public Pair matchCountUncached() {
        return Pair.of(builder -> matches(builder, true), builder -> matches(builder, false));
    }

    /** Matches with few points do not count any more: a condition inside a lambda. */
    public Pair lowScoresIgnored() {
        return Pair.of(
                builder -> ranked(builder, (player, result) -> result.points() > 0),
                builder -> ranked(builder, (player, result) -> result.points() >= 10));
    }

    /** Matches of teams are split off before those of single players; every store has a name. */
    public Pair branchesReordered() {
        return Pair.of(
                builder -> {
                    Map<String, KStream<String, Result>> modes = results(builder)
                            .split(Named.as("mode-"))
                            .branch((player, result) -> result.mode().equals("solo"), Branched.as("solo"))
                            .branch((player, result) -> result.mode().equals("team"), Branched.as("team"))
                            .noDefaultBranch();
                    perMode(modes.get("mode-solo"), "solo");
                    perMode(modes.get("mode-team"), "team");
                },
                builder -> {
                    Map<String, KStream<String, Result>> modes = results(builder)
                            .split(Named.as("mode-"))
                            .branch((player, result) -> result.mode().equals("team"), Branched.as("team"))
                            .branch((player, result) -> result.mode().equals("solo"), Branched.as("solo"))
                            .noDefaultBranch();
                    perMode(modes.get("mode-solo"), "solo");
                    perMode(modes.get("mode-team"), "team");
                });
    }

    private static KStream<String, Result> results(StreamsBuilder builder) {
        return builder.stream("results", Consumed.with(Serdes.String(), RESULT));
    }

    private static void leaderboard(StreamsBuilder builder, Aggregator<String, Result, Long> points) {
        results(builder)
                .groupByKey(Grouped.with(Serdes.String(), RESULT))
                .aggregate(
                        () -> 0L,
                        points,
                        Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("leaderboard")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Long()))
                .toStream()
                .to("leaderboard-out", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void sessions(StreamsBuilder builder, Duration gap) {
        results(builder)
                .groupByKey()
                .windowedBy(SessionWindows.ofInactivityGapAndGrace(gap, Duration.ofMinutes(5)))
                .aggregate(
                        () -> 0L,
                        (player, result, sum) -> sum + result.points(),
                        (player, left, right) -> left + right,
                        Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("play-sessions")
                                .withValueSerde(Serdes.Long()))
                .toStream((session, points) -> session.key())
                .to("points-of-sessions", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void matches(StreamsBuilder builder, boolean cached) {
        Materialized<String, Long, KeyValueStore<Bytes, byte[]>> store =
                Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("matches-store")
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Long());
        results(builder)
                .groupByKey()
                .count(Named.as("count-matches"), cached ? store.withCachingEnabled() : store.withCachingDisabled())
                .toStream(Named.as("match-counts"))
                .to("matches", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void ranked(StreamsBuilder builder, Predicate<String, Result> counts) {
        results(builder)
                .filter(counts, Named.as("ranked"))
                .groupByKey(Grouped.as("ranked-by-player"))
                .count(Materialized.as("ranked-matches"))
                .toStream()
                .to("ranked-matches-out", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void perMode(KStream<String, Result> results, String mode) {
        results.groupByKey(Grouped.as(mode + "-by-player"))
                .count(Named.as("count-" + mode), Materialized.as(mode + "-matches"))
                .toStream(Named.as(mode + "-counts"))
                .to(mode + "-out", Produced.with(Serdes.String(), Serdes.Long()).withName(mode + "-sink"));
    }

    private static final class Best implements Aggregator<String, Result, Long> {
        @Override
        public Long apply(String player, Result result, Long best) {
            return Math.max(best, result.points());
        }
    }

    private static final class Total implements Aggregator<String, Result, Long> {
        @Override
        public Long apply(String player, Result result, Long total) {
            return total + result.points();
        }
    }
}
