import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * One producer with its defaults. For each line on stdin it sends a record for each key of a file, and prints the
 * partitions to which they went, in the order of the keys, as one line.
 */
public final class KeepsProducing {
    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1];
        List<String> keys = Files.readAllLines(Path.of(arguments[2]));
        BufferedReader rounds = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringSerializer text = new StringSerializer();
        try (KafkaProducer<String, String> producer =
            new KafkaProducer<>(Map.of("bootstrap.servers", arguments[0]), text, text)) {
            while (rounds.readLine() != null) {
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (String key : keys) {
                    sent.add(producer.send(new ProducerRecord<>(topic, key, "v")));
                }
                StringBuilder partitions = new StringBuilder();
                for (Future<RecordMetadata> one : sent) {
                    partitions.append(one.get().partition()).append(' ');
                }
                System.out.println(partitions.toString().trim());
                System.out.flush();
            }
        }
    }
}
