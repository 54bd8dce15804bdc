import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;

/** A Kafka Streams program that was given the application.id of a copier: reads some records, commits them, and ends. */
public class TakesRecords {
    public static void main(String[] given) throws InterruptedException {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, given[0]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, given[1]);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, given[4]);
        settings.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6000);
        CountDownLatch left = new CountDownLatch(Integer.parseInt(given[3]));
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(given[2], Consumed.with(Serdes.ByteArray(), Serdes.ByteArray())).foreach((key, value) -> left.countDown());
        try (KafkaStreams streams = new KafkaStreams(builder.build(), settings)) {
            streams.start();
            left.await();
        }
    }
}
