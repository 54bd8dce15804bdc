package shop;

import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

final class Dedup implements Processor<String, Order, String, Long> {
    private final Discount discount;
    private final int limit;
    private ProcessorContext<String, Long> context;
    private KeyValueStore<String, Long> seen;

    Dedup(Discount discount, int limit) {
        this.discount = discount;
        this.limit = limit;
    }

    @Override
    public void init(ProcessorContext<String, Long> given) {
        context = given;
        seen = given.getStateStore("seen");
        given.schedule(Duration.ofMinutes(1), PunctuationType.STREAM_TIME, time -> seen.put(Text.cleaned("tick"), time));
    }

    @Override
    public void process(Record<String, Order> record) {
        Long count = seen.get(record.key());
        long next = count == null ? 1 : count + 1;
        seen.put(record.key(), next);
        if (next < limit) {
            context.forward(record.withValue(discount.of(record.value().amount)));
        }
    }
}
