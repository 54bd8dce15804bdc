package topologies.pairs;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.KStream;
import topologies.Pair;

/** The way from branch, which ends with 3.9, to split. */
public final class BranchToSplit {

    /** A split takes the place of a branch, in front of an unnamed count. */
    @SuppressWarnings("unchecked")
    public Pair branchReplacedBySplitBeforeUnnamedCount() {
        return Pair.of(
                builder -> {
                    KStream<String, String>[] branches = builder.<String, String>stream("tickets")
                            .branch((id, ticket) -> ticket.startsWith("high"), (id, ticket) -> true);
                    branches[0].to("high-tickets");
                    branches[1].to("other-tickets");
                    countUnnamed(builder);
                },
                builder -> {
                    builder.<String, String>stream("tickets")
                            .split()
                            .branch((id, ticket) -> ticket.startsWith("high"),
                                    Branched.withConsumer(high -> high.to("high-tickets")))
                            .defaultBranch(Branched.withConsumer(other -> other.to("other-tickets")));
                    countUnnamed(builder);
                });
    }

    private static void countUnnamed(StreamsBuilder builder) {
        builder.<String, String>stream("comments").groupByKey().count().toStream().to("comments-per-ticket");
    }
}
