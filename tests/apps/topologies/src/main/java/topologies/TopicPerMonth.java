package topologies;

import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import org.apache.kafka.streams.processor.RecordContext;
import org.apache.kafka.streams.processor.TopicNameExtractor;

/** A topic for each month. */
public final class TopicPerMonth implements TopicNameExtractor<String, String> {

    @Override
    public String extract(String key, String value, RecordContext context) {
        return "payments-" + YearMonth.from(Instant.ofEpochMilli(context.timestamp()).atZone(ZoneOffset.UTC));
    }
}
