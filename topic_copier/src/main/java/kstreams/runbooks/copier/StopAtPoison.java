package kstreams.runbooks.copier;

import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProductionExceptionHandler;

/** Ends the copier at a record that the broker does not take; Kafka Streams makes an instance. */
public final class StopAtPoison implements ProductionExceptionHandler {
    @Override
    public Response handleError(ErrorHandlerContext source, ProducerRecord<byte[], byte[]> copy, Exception error) {
        // A broker that is away, a right that was taken, or another time type says nothing about the record.
        if (!(error instanceof RetriableException || error instanceof AuthorizationException
                || error instanceof TimedProducers.OtherTime)) {
            Poison.sentence(source.topic(), source.partition(), source.offset(), copy.key(), copy.value(),
                "topic " + copy.topic() + " does not take it, " + error.getClass().getSimpleName() + ": "
                    + oneLine(error.getMessage()) + " " + remedy(copy.topic(), error));
        }
        return Response.fail();
    }

    @Override
    public void configure(Map<String, ?> settings) {
    }

    private static String remedy(String topic, Exception error) {
        if (error instanceof RecordTooLargeException || error instanceof RecordBatchTooLargeException) {
            return "Raise max.message.bytes of " + topic + " (and producer.max.request.size above 64 MB), then start.";
        }
        if (error instanceof InvalidTimestampException) {
            return "Raise message.timestamp.before.max.ms and message.timestamp.after.max.ms of " + topic
                + ", then start.";
        }
        if (error instanceof InvalidRecordException) {
            return "A compacted topic takes no record without a key: remove compact from its cleanup.policy, then"
                + " start.";
        }
        return "Remove the cause, then start.";
    }

    static String oneLine(String text) {
        String line = text == null ? "no message" : text.replaceAll("\\s+", " ").trim();
        return line.endsWith(".") ? line : line + ".";
    }
}
