import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** Prints, for each key on stdin (one per line, UTF-8), the partition that Kafka's own partitioner gives it. */
public final class KafkaPartitions {
    public static void main(String[] arguments) throws Exception {
        int partitions = Integer.parseInt(arguments[0]);
        BufferedReader keys = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder answer = new StringBuilder();
        for (String key = keys.readLine(); key != null; key = keys.readLine()) {
            byte[] serialized = key.getBytes(StandardCharsets.UTF_8);
            answer.append(BuiltInPartitioner.partitionForKey(serialized, partitions)).append('\n');
        }
        System.out.print(answer);
    }
}
