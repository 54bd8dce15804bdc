package topologies.pairs;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import topologies.Pair;

/** Repartition topics that the code asks for. */
public final class Repartitions {

    /** A repartition topic is put in front of the count, to spread the work over more tasks. */
    public Pair repartitionAdded() {
        return Pair.of(
                builder -> count(events(builder)), builder -> count(events(builder).repartition(eight())));
    }

    /** The repartition topic in front of the count is removed. */
    public Pair repartitionRemoved() {
        return Pair.of(
                builder -> count(events(builder).repartition(eight())), builder -> count(events(builder)));
    }

    /** The repartition topic has another name. */
    public Pair repartitionRenamed() {
        return Pair.of(
                builder -> count(events(builder).repartition(eight())),
                builder -> count(events(builder).repartition(Repartitioned.<String, String>as("more-tasks")
                        .withNumberOfPartitions(8))));
    }

    /** The repartition topic has more partitions. */
    public Pair partitionsOfRepartitionAdded() {
        return Pair.of(
                builder -> count(events(builder).repartition(eight())),
                builder -> count(events(builder).repartition(eight().withNumberOfPartitions(16))));
    }

    /** The repartition topic without a name gets one. */
    public Pair nameAddedToUnnamedRepartition() {
        return Pair.of(
                builder -> count(events(builder).repartition()),
                builder -> count(events(builder).repartition(Repartitioned.as("spread"))));
    }

    /** A filter is put in front of a repartition topic without a name. */
    public Pair filterBeforeUnnamedRepartition() {
        return Pair.of(
                builder -> count(events(builder).repartition()),
                builder -> count(events(builder)
                        .filter((id, event) -> !event.isEmpty(), Named.as("only-events"))
                        .repartition()));
    }

    /** A filter is put in front of a repartition topic with a name. */
    public Pair filterBeforeNamedRepartition() {
        return Pair.of(
                builder -> count(events(builder).repartition(eight())),
                builder -> count(events(builder)
                        .filter((id, event) -> !event.isEmpty(), Named.as("only-events"))
                        .repartition(eight())));
    }

    /** A topic of one's own between two parts gives way to a repartition topic. */
    public Pair ownTopicReplacedByRepartition() {
        return Pair.of(
                builder -> {
                    events(builder).to("events-spread", Produced.as("spread-sink"));
                    count(builder.stream("events-spread", Consumed.as("spread-source")));
                },
                builder -> count(events(builder).repartition(eight())));
    }

    /** One topic per count: both counts were behind one repartition topic. */
    public Pair sharedRepartitionSplit() {
        return Pair.of(
                builder -> {
                    KStream<String, String> spread = events(builder).repartition(eight());
                    count(spread);
                    spread.groupByKey(Grouped.as("again"))
                            .reduce((one, other) -> other, Named.as("latest"), Materialized.as("latest-store"));
                },
                builder -> {
                    KStream<String, String> events = events(builder);
                    count(events.repartition(eight()));
                    events.repartition(Repartitioned.as("spread-for-latest"))
                            .groupByKey(Grouped.as("again"))
                            .reduce((one, other) -> other, Named.as("latest"), Materialized.as("latest-store"));
                });
    }

    /** What makes values comes from the front of a repartition topic to its rear. */
    public Pair mapValuesMovedBehindRepartition() {
        return Pair.of(
                builder -> count(trimmed(events(builder)).repartition(eight())),
                builder -> count(trimmed(events(builder).repartition(eight()))));
    }

    /** What makes values comes from the rear of a repartition topic to its front. */
    public Pair mapValuesMovedInFrontOfRepartition() {
        return Pair.of(
                builder -> count(trimmed(events(builder).repartition(eight()))),
                builder -> count(trimmed(events(builder)).repartition(eight())));
    }

    /** What makes values comes from the front of a repartition topic to its rear, and gets another name. */
    public Pair mapValuesRenamedAndMovedBehindRepartition() {
        return Pair.of(
                builder -> count(trimmed(events(builder)).repartition(eight())),
                builder -> count(events(builder)
                        .repartition(eight())
                        .mapValues(event -> event + ".", Named.as("ended"))));
    }

    /** An operator without a name comes from the front of a repartition topic to its rear. */
    public Pair unnamedMapValuesMovedBehindRepartition() {
        return Pair.of(
                builder -> count(events(builder).mapValues(event -> event + ".").repartition(eight())),
                builder -> count(events(builder).repartition(eight()).mapValues(event -> event + ".")));
    }

    /** A filter without a name comes from the front of a repartition topic to its rear: it is passed twice. */
    public Pair unnamedFilterMovedBehindRepartition() {
        return Pair.of(
                builder -> count(events(builder).filter((id, event) -> !event.isEmpty()).repartition(eight())),
                builder -> count(events(builder).repartition(eight()).filter((id, event) -> !event.isEmpty())));
    }

    /** A filter without a name comes from the rear of a repartition topic to its front: it is passed never. */
    public Pair unnamedFilterMovedInFrontOfRepartition() {
        return Pair.of(
                builder -> count(events(builder).repartition(eight()).filter((id, event) -> !event.isEmpty())),
                builder -> count(events(builder).filter((id, event) -> !event.isEmpty()).repartition(eight())));
    }

    /** What makes values comes from the front of a topic of one's own to its rear. */
    public Pair mapValuesMovedBehindOwnTopic() {
        return Pair.of(
                builder -> {
                    trimmed(events(builder)).to("events-spread", Produced.as("spread-sink"));
                    count(builder.stream("events-spread", Consumed.as("spread-source")));
                },
                builder -> {
                    events(builder).to("events-spread", Produced.as("spread-sink"));
                    count(trimmed(builder.stream("events-spread", Consumed.as("spread-source"))));
                });
    }

    private static KStream<String, String> trimmed(KStream<String, String> events) {
        return events.mapValues(event -> event + ".", Named.as("trimmed"));
    }

    private static KStream<String, String> events(StreamsBuilder builder) {
        return builder.stream("events", Consumed.as("events-source"));
    }

    private static Repartitioned<String, String> eight() {
        return Repartitioned.<String, String>as("spread").withNumberOfPartitions(8);
    }

    private static void count(KStream<String, String> events) {
        events.groupByKey(Grouped.as("by-id"))
                .count(Named.as("count-events"), Materialized.as("events-store"))
                .toStream(Named.as("event-counts"))
                .to("event-counts", Produced.as("event-counts-sink"));
    }
}
