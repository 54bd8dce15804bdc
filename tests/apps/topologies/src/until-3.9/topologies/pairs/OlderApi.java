package topologies.pairs;

import static org.apache.kafka.streams.kstream.Suppressed.BufferConfig.unbounded;
import static org.apache.kafka.streams.kstream.Suppressed.untilWindowCloses;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Transformer;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import topologies.Pair;

/** Code that compiles up to 3.9. */
public final class OlderApi {

    /** Results wait for the end of windows that say nothing of their grace, which is 24 hours then. */
    public Pair namedSuppressAddedBehindWindowsWithDefaultGrace() {
        return Pair.of(
                builder -> out(counts(builder, hourly())),
                builder -> out(counts(builder, hourly())
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** Results wait for the end of windows that say they have no grace. */
    public Pair namedSuppressAddedBehindWindowsWithoutGrace() {
        return Pair.of(
                builder -> out(counts(builder, hourly().grace(Duration.ZERO))),
                builder -> out(counts(builder, hourly().grace(Duration.ZERO))
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** Windows with suppressed results, that said nothing of their grace, say it now. */
    public Pair defaultGraceWrittenOutBeforeSuppress() {
        return Pair.of(
                builder -> out(counts(builder, hourly())
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))),
                builder -> out(counts(builder, hourly().grace(Duration.ofMinutes(10)))
                        .suppress(untilWindowCloses(unbounded()).withName("final-only"))));
    }

    /** A third branch is added in front of an unnamed count. */
    @SuppressWarnings("unchecked")
    public Pair branchPredicateAddedBeforeUnnamedCount() {
        return Pair.of(
                builder -> {
                    KStream<String, String>[] branches = builder.<String, String>stream("tickets")
                            .branch((id, ticket) -> ticket.startsWith("high"), (id, ticket) -> true);
                    branches[1].groupByKey().count().toStream().to("other-tickets");
                },
                builder -> {
                    KStream<String, String>[] branches = builder.<String, String>stream("tickets")
                            .branch((id, ticket) -> ticket.startsWith("high"),
                                    (id, ticket) -> ticket.startsWith("mid"), (id, ticket) -> true);
                    branches[2].groupByKey().count().toStream().to("other-tickets");
                });
    }

    /** The filter that lets each id through once a day takes another part of the ticket for its id. */
    public Pair deduplicatedByOtherId() {
        return Pair.of(builder -> once(builder, 0), builder -> once(builder, 1));
    }

    /** The filter that lets each id through once a day does so for an hour. */
    public Pair deduplicatedForShorterTime() {
        return Pair.of(builder -> once(builder, 0), builder -> once(builder, 0, Duration.ofHours(1)));
    }

    private static TimeWindows hourly() {
        return TimeWindows.of(Duration.ofHours(1));
    }

    private static KTable<Windowed<String>, Long> counts(StreamsBuilder builder, TimeWindows windows) {
        return builder.<String, String>stream("tickets", Consumed.as("tickets-source"))
                .groupByKey(Grouped.as("by-id"))
                .windowedBy(windows)
                .count(Named.as("count-tickets"), Materialized.as("tickets-store"));
    }

    private static void out(KTable<Windowed<String>, Long> counts) {
        counts.toStream(Named.as("ticket-counts")).to("ticket-counts", Produced.as("ticket-counts-sink"));
    }

    private static void once(StreamsBuilder builder, int part) {
        once(builder, part, Duration.ofDays(1));
    }

    private static void once(StreamsBuilder builder, int part, Duration ttl) {
        builder.addStateStore(Stores.windowStoreBuilder(
                Stores.persistentWindowStore("tickets-seen", ttl, ttl, false), Serdes.String(), Serdes.Long()));
        builder.<String, String>stream("tickets", Consumed.as("tickets-source"))
                .selectKey((id, ticket) -> ticket.split(",")[part], Named.as("ticket-id"))
                .transform(Once::new, Named.as("once"), "tickets-seen")
                .to("tickets-once", Produced.as("tickets-once-sink"));
    }

    /** Lets a record through if its key has not been seen yet. */
    private static final class Once implements Transformer<String, String, KeyValue<String, String>> {
        private WindowStore<String, Long> seen;
        private ProcessorContext context;

        @Override
        @SuppressWarnings("unchecked")
        public void init(ProcessorContext context) {
            this.context = context;
            seen = (WindowStore<String, Long>) context.getStateStore("tickets-seen");
        }

        @Override
        public KeyValue<String, String> transform(String id, String ticket) {
            boolean known = seen.fetch(id, context.timestamp()) != null;
            seen.put(id, context.timestamp(), context.timestamp());
            return known ? null : KeyValue.pair(id, ticket);
        }

        @Override
        public void close() {}
    }
}
