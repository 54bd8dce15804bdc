package kstreams.runbooks.copier;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.TopicPartition;

/** The offset of each source partition before which a copier ends: that record is not copied. Empty: it never ends. */
final class Until {
    private static final Pattern WRITTEN = Pattern.compile("([A-Za-z0-9._-]+):(\\d{1,9}):(\\d{1,18})");

    static final Until NEVER = new Until(Map.of());

    private final Map<TopicPartition, Long> ends;

    private Until(Map<TopicPartition, Long> ends) {
        this.ends = ends;
    }

    /** Offsets as {@code orders-sent:0:1200, orders-sent:1:1340}, separated by commas or white space. */
    static Until parse(String text) throws Refused {
        Map<TopicPartition, Long> ends = new HashMap<>();
        for (String written : text.trim().split("[,\\s]+")) {
            Matcher place = WRITTEN.matcher(written);
            if (written.isEmpty()) {
                continue;
            }
            if (!place.matches()) {
                throw new Refused("until: '" + written + "' is not TOPIC:PARTITION:OFFSET.");
            }
            TopicPartition partition = new TopicPartition(place.group(1), Integer.parseInt(place.group(2)));
            if (ends.put(partition, Long.parseLong(place.group(3))) != null) {
                throw new Refused("until: " + partition + " has two offsets; give it one.");
            }
        }
        if (ends.isEmpty()) {
            throw new Refused("until is set and has no offset: the copier would never end. Give TOPIC:PARTITION:OFFSET"
                + " for each partition of each route, or remove the line.");
        }
        return new Until(Map.copyOf(ends));
    }

    boolean isGiven() {
        return !ends.isEmpty();
    }

    Map<TopicPartition, Long> ends() {
        return ends;
    }

    /** A partition whose committed offset is past its end. */
    Optional<TopicPartition> passed(Map<TopicPartition, Long> committed) {
        return ends.keySet().stream()
            .filter(partition -> committed.getOrDefault(partition, 0L) > ends.get(partition)).findFirst();
    }

    /** The sum of the offsets between the committed ones and these; 0 once each is committed. */
    long left(Map<TopicPartition, Long> committed) {
        long left = 0;
        for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
            left += Math.max(0, end.getValue() - committed.getOrDefault(end.getKey(), 0L));
        }
        return left;
    }
}
