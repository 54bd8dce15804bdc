package topologies.pairs;

import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import topologies.Pair;
import topologies.TopicPerCountry;
import topologies.TopicPerMonth;

/** Subtopologies, repartition topics, sources and sinks. */
public final class Structure {

    /** The unnecessary groupBy by the key as it is becomes a groupByKey. */
    public Pair groupByToGroupByKey() {
        return Pair.of(
                builder -> count(payments(builder).groupBy((user, payment) -> user, Grouped.as("by-user"))),
                builder -> count(payments(builder).groupByKey(Grouped.as("by-user"))));
    }

    /** Payments are grouped by their currency instead of their user. */
    public Pair groupByKeyToGroupByCurrency() {
        return Pair.of(
                builder -> count(payments(builder).groupByKey(Grouped.as("by-user"))),
                builder -> count(payments(builder)
                        .groupBy((user, payment) -> payment.substring(0, 3), Grouped.as("by-currency"))));
    }

    /** Payments are grouped by their currency, while every instance is a static member of the group. */
    public Pair groupByAddedUnderStaticMembership() {
        return groupByKeyToGroupByCurrency();
    }

    /** A named filter is put in front of the count, while every instance is a static member of the group. */
    public Pair filterAddedUnderStaticMembership() {
        return Pair.of(
                Structure::countPayments,
                builder -> count(payments(builder)
                        .filter((user, payment) -> !payment.isEmpty(), Named.as("only-payments"))
                        .groupByKey(Grouped.as("by-user"))));
    }

    /** Payments are grouped by their currency instead of their user, without a name anywhere. */
    public Pair groupByKeyToGroupByUnnamed() {
        return Pair.of(
                builder -> builder.<String, String>stream("payments").groupByKey().count().toStream().to("counts"),
                builder -> builder.<String, String>stream("payments")
                        .groupBy((user, payment) -> payment.substring(0, 3))
                        .count()
                        .toStream()
                        .to("counts"));
    }

    /** A map that leaves the key alone becomes a mapValues, which spares the repartition topic. */
    public Pair mapToMapValuesBeforeGroupByKey() {
        return Pair.of(
                builder -> count(payments(builder)
                        .map((user, payment) -> KeyValue.pair(user, payment.trim()), Named.as("trim"))
                        .groupByKey(Grouped.as("by-user"))),
                builder -> count(payments(builder)
                        .mapValues(payment -> payment.trim(), Named.as("trim"))
                        .groupByKey(Grouped.as("by-user"))));
    }

    /** A mapValues becomes a map in front of a count: nobody wanted the repartition topic that comes with it. */
    public Pair mapValuesToMapBeforeGroupByKey() {
        return Pair.of(
                builder -> count(payments(builder)
                        .mapValues(payment -> payment.trim(), Named.as("trim"))
                        .groupByKey(Grouped.as("by-user"))),
                builder -> count(payments(builder)
                        .map((user, payment) -> KeyValue.pair(user, payment.trim()), Named.as("trim"))
                        .groupByKey(Grouped.as("by-user"))));
    }

    /** A map that leaves the key alone becomes a mapValues; nothing behind it has state. */
    public Pair mapToMapValuesWithoutState() {
        return Pair.of(
                builder -> payments(builder)
                        .map((user, payment) -> KeyValue.pair(user, payment.trim()), Named.as("trim"))
                        .to("clean-payments", Produced.as("clean-payments-sink")),
                builder -> payments(builder)
                        .mapValues(payment -> payment.trim(), Named.as("trim"))
                        .to("clean-payments", Produced.as("clean-payments-sink")));
    }

    /** An independent copy of another topic is put in front of the count: the count's store moves up by one. */
    public Pair subtopologyAddedInFront() {
        return Pair.of(Structure::countPayments, builder -> {
            copy(builder, "refunds");
            countPayments(builder);
        });
    }

    /** An independent copy of another topic is put behind the count. */
    public Pair subtopologyAddedBehind() {
        return Pair.of(Structure::countPayments, builder -> {
            countPayments(builder);
            copy(builder, "refunds");
        });
    }

    /** The first of two independent parts is removed. */
    public Pair firstSubtopologyRemoved() {
        return Pair.of(
                builder -> {
                    copy(builder, "refunds");
                    countPayments(builder);
                },
                Structure::countPayments);
    }

    /** The last of two independent parts is removed. */
    public Pair lastSubtopologyRemoved() {
        return Pair.of(
                builder -> {
                    countPayments(builder);
                    copy(builder, "refunds");
                },
                Structure::countPayments);
    }

    /** Two independent parts, all named, change places in the code. */
    public Pair namedSubtopologiesSwapped() {
        return Pair.of(
                builder -> {
                    countPayments(builder);
                    countTopic(builder, "refunds");
                },
                builder -> {
                    countTopic(builder, "refunds");
                    countPayments(builder);
                });
    }

    /** Two independent copies, without state, change places in the code. */
    public Pair statelessSubtopologiesSwapped() {
        return Pair.of(
                builder -> {
                    copy(builder, "payments");
                    copy(builder, "refunds");
                },
                builder -> {
                    copy(builder, "refunds");
                    copy(builder, "payments");
                });
    }

    /** Refunds, copied in a part of their own until now, are merged into the counted payments. */
    public Pair subtopologiesMerged() {
        return Pair.of(
                builder -> {
                    copy(builder, "refunds");
                    countPayments(builder);
                },
                builder -> {
                    KStream<String, String> refunds = builder.stream("refunds", Consumed.as("refunds-source"));
                    refunds.to("refunds-copy", Produced.as("refunds-sink"));
                    count(payments(builder).merge(refunds, Named.as("with-refunds")).groupByKey(Grouped.as("by-user")));
                });
    }

    /** The order in which two streams are merged is the other one. */
    public Pair mergeOrderSwapped() {
        return Pair.of(
                builder -> count(payments(builder)
                        .merge(builder.stream("refunds", Consumed.as("refunds-source")), Named.as("all"))
                        .groupByKey(Grouped.as("by-user"))),
                builder -> {
                    KStream<String, String> payments = payments(builder);
                    KStream<String, String> refunds = builder.stream("refunds", Consumed.as("refunds-source"));
                    count(refunds.merge(payments, Named.as("all")).groupByKey(Grouped.as("by-user")));
                });
    }

    /** A second topic is read by the same source. */
    public Pair sourceTopicAdded() {
        return Pair.of(
                builder -> count(payments(builder, "payments").groupByKey(Grouped.as("by-user"))),
                builder -> count(payments(builder, "payments", "payments-eu").groupByKey(Grouped.as("by-user"))));
    }

    /** One of two topics of a source is not read any more. */
    public Pair sourceTopicRemoved() {
        return Pair.of(
                builder -> count(payments(builder, "payments", "payments-eu").groupByKey(Grouped.as("by-user"))),
                builder -> count(payments(builder, "payments").groupByKey(Grouped.as("by-user"))));
    }

    /** The topics of a source are listed in another order. */
    public Pair sourceTopicsListedInOtherOrder() {
        return Pair.of(
                builder -> count(payments(builder, "payments", "payments-eu").groupByKey(Grouped.as("by-user"))),
                builder -> count(payments(builder, "payments-eu", "payments").groupByKey(Grouped.as("by-user"))));
    }

    /** The source reads another topic than before. */
    public Pair sourceTopicReplaced() {
        return Pair.of(
                builder -> count(payments(builder, "payments").groupByKey(Grouped.as("by-user"))),
                builder -> count(payments(builder, "payments-v2").groupByKey(Grouped.as("by-user"))));
    }

    /** The pattern of a source lets more topics in. */
    public Pair sourcePatternWidened() {
        return Pair.of(
                builder -> matching(builder, "payments-(eu|us)"),
                builder -> matching(builder, "payments-.*"));
    }

    /** The pattern of a source lets fewer topics in. */
    public Pair sourcePatternNarrowed() {
        return Pair.of(
                builder -> matching(builder, "payments-.*"),
                builder -> matching(builder, "payments-(eu|us)"));
    }

    /** A pattern that is the name of one topic gets a second. */
    public Pair sourcePatternOfOneTopicWidened() {
        return Pair.of(
                builder -> matching(builder, "payments\\.eu"),
                builder -> matching(builder, "payments\\.(eu|us)"));
    }

    /** The pattern of a source lets one topic in, and another one no longer. */
    public Pair sourcePatternReplaced() {
        return Pair.of(
                builder -> matching(builder, "payments-(eu|us)"),
                builder -> matching(builder, "payments-(us|asia)"));
    }

    /** Another source has a pattern too, and one topic can match both. */
    public Pair sourcePatternAddedThatOverlaps() {
        return Pair.of(
                builder -> matching(builder, "payments-.*"),
                builder -> {
                    matching(builder, "payments-.*");
                    builder.<String, String>stream(Pattern.compile(".*-eu"), Consumed.as("eu-source"))
                            .to("copies", Produced.as("copies-sink"));
                });
    }

    /** A pattern takes the place of the list of topics. */
    public Pair sourceTopicsToPattern() {
        return Pair.of(
                builder -> count(payments(builder, "payments-eu", "payments-us").groupByKey(Grouped.as("by-user"))),
                builder -> matching(builder, "payments-(eu|us)"));
    }

    /** The condition behind a source with a pattern changes, the pattern does not. */
    public Pair filterBehindSourcePatternChanged() {
        return Pair.of(
                builder -> matching(builder, "payments-.*", 1),
                builder -> matching(builder, "payments-.*", 4));
    }

    /** The results go to another topic. */
    public Pair sinkTopicChanged() {
        return Pair.of(
                builder -> payments(builder).to("payments-copy", Produced.as("copy-sink")),
                builder -> payments(builder).to("payments-archive", Produced.as("copy-sink")));
    }

    /** The results go to a second topic as well. */
    public Pair secondSinkAdded() {
        return Pair.of(
                builder -> payments(builder).to("payments-copy", Produced.as("copy-sink")),
                builder -> {
                    KStream<String, String> payments = payments(builder);
                    payments.to("payments-copy", Produced.as("copy-sink"));
                    payments.to("payments-archive", Produced.as("archive-sink"));
                });
    }

    /** One of two results is not written any more. */
    public Pair secondSinkRemoved() {
        return Pair.of(
                builder -> {
                    KStream<String, String> payments = payments(builder);
                    payments.to("payments-copy", Produced.as("copy-sink"));
                    payments.to("payments-archive", Produced.as("archive-sink"));
                },
                builder -> payments(builder).to("payments-copy", Produced.as("copy-sink")));
    }

    /** Each record says where it goes; until now all went to one topic. */
    public Pair fixedSinkToTopicPerCountry() {
        return Pair.of(
                builder -> payments(builder).to("payments-copy", Produced.as("copy-sink")),
                builder -> payments(builder).to(new TopicPerCountry(2), Produced.as("copy-sink")));
    }

    /** The topic that a record goes to is found in another way, by the same class. */
    public Pair topicPerCountryLongerCode() {
        return Pair.of(
                builder -> payments(builder).to(new TopicPerCountry(2), Produced.as("copy-sink")),
                builder -> payments(builder).to(new TopicPerCountry(3), Produced.as("copy-sink")));
    }

    /** The topic that a record goes to is found by a lambda: its class has another name in each run. */
    public Pair topicPerRecordByLambda() {
        return Pair.same(builder -> payments(builder)
                .to((user, payment, context) -> "payments-" + payment.substring(0, 2), Produced.as("copy-sink")));
    }

    /** The class that finds the topic of a record says nothing of itself: its address is printed. */
    public Pair topicPerRecordByClassWithoutText() {
        return Pair.same(builder -> payments(builder).to(new TopicPerMonth(), Produced.as("copy-sink")));
    }

    private static void matching(StreamsBuilder builder, String pattern) {
        KStream<String, String> payments = builder.stream(Pattern.compile(pattern), Consumed.as("payments-source"));
        count(payments.groupByKey(Grouped.as("by-user")));
    }

    private static void matching(StreamsBuilder builder, String pattern, int length) {
        KStream<String, String> payments = builder.stream(Pattern.compile(pattern), Consumed.as("payments-source"));
        count(payments.filter((user, payment) -> payment.length() >= length, Named.as("long-enough"))
                .groupByKey(Grouped.as("by-user")));
    }

    private static KStream<String, String> payments(StreamsBuilder builder, String... topics) {
        return builder.stream(topics.length == 0 ? List.of("payments") : List.of(topics),
                Consumed.as("payments-source"));
    }

    private static void countPayments(StreamsBuilder builder) {
        count(payments(builder).groupByKey(Grouped.as("by-user")));
    }

    private static void count(KGroupedStream<String, String> payments) {
        payments.count(Named.as("count-payments"), Materialized.as("payments-store"))
                .toStream(Named.as("payment-counts"))
                .to("payment-counts", Produced.as("payment-counts-sink"));
    }

    private static void countTopic(StreamsBuilder builder, String topic) {
        builder.<String, String>stream(topic, Consumed.as(topic + "-source"))
                .groupByKey(Grouped.as(topic + "-by-user"))
                .count(Named.as("count-" + topic), Materialized.as(topic + "-store"));
    }

    private static void copy(StreamsBuilder builder, String topic) {
        builder.<String, String>stream(topic, Consumed.as(topic + "-source"))
                .to(topic + "-copy", Produced.as(topic + "-sink"));
    }
}
