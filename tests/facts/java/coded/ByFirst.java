package shop;

import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.streams.processor.StreamPartitioner;

final class ByFirst implements StreamPartitioner<String, String> {
    private final int width;

    ByFirst(int width) {
        this.width = width;
    }

    @Override
    public Optional<Set<Integer>> partitions(String topic, String key, String value, int partitions) {
        return Optional.of(Collections.singleton(key.charAt(0) / width % partitions));
    }
}
