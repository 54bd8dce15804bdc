package kstreams.runbooks.copier;

import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProductionExceptionHandler;

/**
 * Ends the copier at a record that the broker does not take; Kafka Streams makes an instance.
 *
 * <p>{@link CopyClients} names the record: the context here is that of the record which the thread processes when the
 * answer comes.
 */
public final class StopAtPoison implements ProductionExceptionHandler {
    @Override
    public Response handleError(ErrorHandlerContext context, ProducerRecord<byte[], byte[]> copy, Exception error) {
        return Response.fail();
    }

    @Override
    public void configure(Map<String, ?> settings) {
    }
}
