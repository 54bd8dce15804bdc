import java.io.FileReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The floor of bench-copier: the shortest loop that copies exactly once while nothing fails. FILE FROM TO. */
public final class CopyLoop {
    private static volatile boolean stops;

    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        try (FileReader file = new FileReader(arguments[0])) {
            settings.load(file);
        }
        KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        CountDownLatch ended = new CountDownLatch(1);
        Thread loop = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stops = true;
            try {
                ended.await();
            } catch (InterruptedException interrupted) {
                loop.interrupt();
            }
        }));
        long commitMs = Long.parseLong(settings.getProperty("commit.interval.ms"));
        producer.initTransactions();
        consumer.subscribe(List.of(arguments[1]));
        Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
        long begunAt = 0;
        while (!stops) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(ends.isEmpty() ? 100 : 1));
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (ends.isEmpty()) {
                    producer.beginTransaction();
                    begunAt = System.currentTimeMillis();
                }
                producer.send(new ProducerRecord<>(arguments[2], record.partition(), record.timestamp(), record.key(),
                    record.value(), record.headers()));
                ends.put(new TopicPartition(record.topic(), record.partition()),
                    new OffsetAndMetadata(record.offset() + 1));
            }
            if (!ends.isEmpty() && System.currentTimeMillis() - begunAt >= commitMs) {
                producer.sendOffsetsToTransaction(ends, consumer.groupMetadata());
                producer.commitTransaction();
                ends.clear();
            }
        }
        consumer.close();
        producer.close();
        ended.countDown();
    }
}
