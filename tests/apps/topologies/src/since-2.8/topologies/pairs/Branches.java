package topologies.pairs;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.BranchedKStream;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;

/** Streams that are split. */
public final class Branches {

    /** A third branch is added, with a name. */
    public Pair namedBranchAdded() {
        return Pair.of(builder -> named(builder).noDefaultBranch(), builder -> named(builder)
                .branch((id, ticket) -> ticket.startsWith("low"), to("low"))
                .noDefaultBranch());
    }

    /** A third branch is added in front of an unnamed count. */
    public Pair unnamedBranchAddedBeforeUnnamedCount() {
        return Pair.of(
                builder -> {
                    unnamed(builder).noDefaultBranch();
                    countUnnamed(builder);
                },
                builder -> {
                    unnamed(builder)
                            .branch((id, ticket) -> ticket.startsWith("low"),
                                    Branched.withConsumer(low -> low.to("low-tickets")))
                            .noDefaultBranch();
                    countUnnamed(builder);
                });
    }

    /** Two branches exchange the topics that they write. */
    public Pair outputsOfBranchesExchanged() {
        return Pair.of(
                builder -> named(builder).noDefaultBranch(),
                builder -> tickets(builder)
                        .split(Named.as("by-level-"))
                        .branch((id, ticket) -> ticket.startsWith("high"), into("mid", "high"))
                        .branch((id, ticket) -> ticket.startsWith("mid"), into("high", "mid"))
                        .noDefaultBranch());
    }

    /** The condition of a branch is another one. */
    public Pair branchConditionChanged() {
        return Pair.of(
                builder -> tickets(builder)
                        .split(Named.as("by-level-"))
                        .branch((id, ticket) -> ticket.startsWith("high"), to("high"))
                        .noDefaultBranch(),
                builder -> tickets(builder)
                        .split(Named.as("by-level-"))
                        .branch((id, ticket) -> ticket.startsWith("urgent"), to("high"))
                        .noDefaultBranch());
    }

    private static KStream<String, String> tickets(StreamsBuilder builder) {
        return builder.stream("tickets", Consumed.as("tickets-source"));
    }

    private static BranchedKStream<String, String> named(StreamsBuilder builder) {
        return tickets(builder)
                .split(Named.as("by-level-"))
                .branch((id, ticket) -> ticket.startsWith("high"), to("high"))
                .branch((id, ticket) -> ticket.startsWith("mid"), to("mid"));
    }

    private static Branched<String, String> to(String level) {
        return into(level, level);
    }

    private static Branched<String, String> into(String output, String level) {
        return Branched.<String, String>withConsumer(
                tickets -> tickets.to(output + "-tickets", Produced.as(output + "-sink")))
                .withName(level);
    }

    private static BranchedKStream<String, String> unnamed(StreamsBuilder builder) {
        return builder.<String, String>stream("tickets")
                .split()
                .branch((id, ticket) -> ticket.startsWith("high"),
                        Branched.withConsumer(high -> high.to("high-tickets")));
    }

    private static void countUnnamed(StreamsBuilder builder) {
        builder.<String, String>stream("comments").groupByKey().count().toStream().to("comments-per-ticket");
    }
}
