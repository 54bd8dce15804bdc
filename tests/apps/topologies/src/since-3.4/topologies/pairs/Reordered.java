package topologies.pairs;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;
import topologies.Pair;

/** Operators that both versions have, in another order. */
public final class Reordered {

    /** Records are enriched before duplicates are dropped, no longer behind that. */
    public Pair processorsWithStoresReordered() {
        return Pair.of(
                builder -> processed(processed(tickets(builder, "seen", "people"), "dedup", "seen"), "enrich", "people")
                        .to("tickets-enriched", Produced.as("out")),
                builder -> processed(processed(tickets(builder, "seen", "people"), "enrich", "people"), "dedup", "seen")
                        .to("tickets-enriched", Produced.as("out")));
    }

    /** A filter behind a count moves in front of it. */
    public Pair filterMovedInFrontOfNamedCount() {
        return Pair.of(
                builder -> counted(tickets(builder))
                        .filter((person, count) -> !person.isEmpty(), Named.as("with-person"))
                        .to("tickets-per-person", Produced.as("out")),
                builder -> counted(tickets(builder)
                                .filter((person, ticket) -> !person.isEmpty(), Named.as("with-person")))
                        .to("tickets-per-person", Produced.as("out")));
    }

    /** An operator in front of a processor gives the records other keys, and no topic is between them. */
    public Pair keySelectedBeforeStoreOfProcessor() {
        return Pair.of(
                builder -> processed(
                                tickets(builder, "people").mapValues(ticket -> ticket.trim()), "enrich", "people")
                        .to("tickets-enriched", Produced.as("out")),
                builder -> processed(
                                tickets(builder, "people").selectKey((person, ticket) -> ticket.trim()),
                                "enrich",
                                "people")
                        .to("tickets-enriched", Produced.as("out")));
    }

    private static KStream<String, String> tickets(StreamsBuilder builder, String... stores) {
        for (String store : stores) {
            builder.addStateStore(Stores.keyValueStoreBuilder(
                    Stores.persistentKeyValueStore(store), Serdes.String(), Serdes.String()));
        }
        return builder.stream("tickets", Consumed.as("tickets-source"));
    }

    private static KStream<String, String> processed(KStream<String, String> stream, String name, String store) {
        return stream.process(Forward::new, Named.as(name), store);
    }

    private static KStream<String, Long> counted(KStream<String, String> stream) {
        return stream.groupByKey(Grouped.as("by-person"))
                .count(Named.as("count-tickets"), Materialized.as("counts"))
                .toStream(Named.as("counts-to-stream"));
    }

    private static final class Forward extends ContextualProcessor<String, String, String, String> {
        @Override
        public void process(Record<String, String> record) {
            context().forward(record);
        }
    }
}
