package domains;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import topologies.Pair;

/** Messages of rooms, and who is present. */
public final class Chat {
    public record Message(String room, long user, String text) {}

    private static final Serde<Message> MESSAGE = new BinarySerde<>(Message.class);

    /** The times of a user's signs of life are kept in a window store, under the name of the key-value store. */
    public Pair presenceStoreToWindows() {
        return Pair.of(
                builder -> presence(
                        builder,
                        Stores.keyValueStoreBuilder(
                                Stores.persistentKeyValueStore("presence"), Serdes.String(), Serdes.Long())),
                builder -> presence(
                        builder,
                        Stores.windowStoreBuilder(
                                Stores.persistentWindowStore(
                                        "presence", Duration.ofHours(1), Duration.ofMinutes(1), false),
                                Serdes.String(),
                                Serdes.Long())));
    }

    /** Members of a room are counted by the table of users, no longer by the stream of entries. */
    public Pair membersStreamToTable() {
        Consumed<String, String> consumed = Consumed.with(Serdes.String(), Serdes.String());
        Grouped<String, String> grouped = Grouped.with("by-room", Serdes.String(), Serdes.String());
        return Pair.of(
                builder -> members(builder.stream("rooms-of-users", consumed)
                        .groupBy((user, room) -> room, grouped)
                        .count(Materialized.as("members-store"))),
                builder -> members(builder.table("rooms-of-users", consumed, Materialized.as("rooms-store"))
                        .groupBy((user, room) -> KeyValue.pair(room, user), grouped)
                        .count(Materialized.as("members-store"))));
    }

    /** The number of a user is text, no longer eight bytes. */
    public Pair userKeyAsText() {
        return Pair.of(
                builder -> messages(builder)
                        .groupBy((room, message) -> message.user(), Grouped.with("by-user", Serdes.Long(), MESSAGE))
                        .count(Materialized.<Long, Long, KeyValueStore<Bytes, byte[]>>as("user-messages")
                                .withKeySerde(Serdes.Long())
                                .withValueSerde(Serdes.Long()))
                        .toStream()
                        .to("messages-per-user", Produced.with(Serdes.Long(), Serdes.Long())),
                builder -> messages(builder)
                        .groupBy(
                                (room, message) -> Long.toString(message.user()),
                                Grouped.with("by-user", Serdes.String(), MESSAGE))
                        .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("user-messages")
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Long()))
                        .toStream()
                        .to("messages-per-user", Produced.with(Serdes.String(), Serdes.Long())));
    }

    /** Two counts without names change places in the program. */
    public Pair unnamedCountsReordered() {
        return Pair.of(
                builder -> {
                    KStream<String, Message> messages = messages(builder);
                    perRoom(messages);
                    perFirstWord(messages);
                },
                builder -> {
                    KStream<String, Message> messages = messages(builder);
                    perFirstWord(messages);
                    perRoom(messages);
                });
    }

    private static KStream<String, Message> messages(StreamsBuilder builder) {
        return builder.stream("messages", Consumed.with(Serdes.String(), MESSAGE));
    }

    private static void perRoom(KStream<String, Message> messages) {
        messages.groupBy((room, message) -> message.room(), Grouped.with(Serdes.String(), MESSAGE))
                .count()
                .toStream()
                .to("messages-per-room", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void perFirstWord(KStream<String, Message> messages) {
        messages.groupBy((room, message) -> message.text().split(" ")[0], Grouped.with(Serdes.String(), MESSAGE))
                .count()
                .toStream()
                .to("messages-per-word", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void members(KTable<String, Long> members) {
        members.toStream(Named.as("member-counts")).to("members", Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static void presence(StreamsBuilder builder, StoreBuilder<? extends StateStore> store) {
        builder.addStateStore(store);
        messages(builder)
                .repartition(Repartitioned.with(Serdes.String(), MESSAGE).withName("messages-by-room"))
                .process(Presence::new, Named.as("presence-of-users"), "presence");
    }

    private static final class Presence extends ContextualProcessor<String, Message, String, Long> {
        @Override
        public void process(Record<String, Message> record) {
            StateStore store = context().getStateStore("presence");
            if (!store.isOpen()) {
                throw new IllegalStateException("the store of presence is closed");
            }
        }
    }
}
