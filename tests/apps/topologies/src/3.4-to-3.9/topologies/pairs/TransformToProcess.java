package topologies.pairs;

import org.apache.kafka.streams.kstream.ValueTransformer;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import topologies.Pair;

/** The way from transformValues, which ends with 3.9, to processValues. */
public final class TransformToProcess {

    /** A processValues takes the place of a transformValues, in front of an unnamed count. */
    public Pair transformValuesReplacedByProcessValues() {
        return Pair.of(
                builder -> builder.<String, String>stream("tickets")
                        .transformValues(Transform::new)
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("ticket-counts"),
                builder -> builder.<String, String>stream("tickets")
                        .processValues(Process::new)
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("ticket-counts"));
    }

    private static final class Transform implements ValueTransformer<String, String> {

        @Override
        public void init(ProcessorContext context) {}

        @Override
        public String transform(String ticket) {
            return ticket.trim();
        }

        @Override
        public void close() {}
    }

    private static final class Process extends ContextualFixedKeyProcessor<String, String, String> {

        @Override
        public void process(FixedKeyRecord<String, String> ticket) {
            context().forward(ticket.withValue(ticket.value().trim()));
        }
    }
}
