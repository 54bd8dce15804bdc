package topologies;

import org.apache.kafka.streams.processor.RecordContext;
import org.apache.kafka.streams.processor.TopicNameExtractor;

/** A topic for each country, which is the start of the value. */
public final class TopicPerCountry implements TopicNameExtractor<String, String> {
    private final int letters;

    public TopicPerCountry(int letters) {
        this.letters = letters;
    }

    @Override
    public String extract(String key, String value, RecordContext context) {
        return "payments-" + value.substring(0, letters);
    }

    @Override
    public String toString() {
        return getClass().getName();
    }
}
