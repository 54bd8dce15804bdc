package orders;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.streams.KafkaStreams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The latest state of the one {@code KafkaStreams} of this process, in the log and over JMX. */
final class StreamsState implements StreamsStateMBean {
    private static final Logger LOG = LoggerFactory.getLogger(StreamsState.class);

    private KafkaStreams.State state = KafkaStreams.State.CREATED;
    private long since = System.currentTimeMillis();
    private String failure = "";

    void register() {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(this, new ObjectName("orders:type=streams-state"));
        } catch (JMException e) {
            throw new IllegalStateException("the state cannot be shown over JMX", e);
        }
    }

    synchronized void changed(KafkaStreams.State now, KafkaStreams.State before) {
        LOG.info("state {} -> {}", before, now);
        state = now;
        since = System.currentTimeMillis();
    }

    synchronized void failed(Throwable cause) {
        LOG.error("a stream thread failed; the instance goes to ERROR and stays up to be looked at", cause);
        if (failure.isEmpty()) {
            Throwable root = cause;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            failure = root.toString();
        }
    }

    @Override
    public synchronized String getState() {
        return state.name();
    }

    @Override
    public synchronized long getSince() {
        return since;
    }

    @Override
    public synchronized String getFailure() {
        return failure;
    }
}
