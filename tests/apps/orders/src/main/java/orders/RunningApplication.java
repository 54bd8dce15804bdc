package orders;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One instance, from start to SIGTERM. When Kafka Streams gives up, the process stays: what has to be watched is the
 * state that Streams itself reports (ERROR), and that needs a process to ask.
 */
final class RunningApplication {
    private static final Logger LOG = LoggerFactory.getLogger(RunningApplication.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

    private final KafkaStreams streams;
    private final boolean cleanUp;
    private final CountDownLatch stopped = new CountDownLatch(1);

    RunningApplication(Topology topology, StreamsConfig config, boolean cleanUp) {
        this.cleanUp = cleanUp;
        streams = new KafkaStreams(topology, config);
        StreamsState state = new StreamsState();
        state.register();
        streams.setStateListener(state::changed);
        streams.setUncaughtExceptionHandler(failure -> {
            state.failed(failure);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
    }

    /** Returns when the instance was stopped from outside. */
    void run() throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "orders-stop"));
        if (cleanUp) {
            LOG.info("local state is deleted: {}=true", Settings.CLEAN_UP);
            streams.cleanUp();
        }
        streams.start();
        stopped.await();
    }

    private void stop() {
        long start = System.nanoTime();
        LOG.info("stopping, from state {}", streams.state());
        boolean clean = streams.close(CLOSE_TIMEOUT);
        long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
        if (clean) {
            LOG.info("stopped after {} ms, in state {}", millis, streams.state());
        } else {
            LOG.error("not stopped after {} ms; leaving in state {}", millis, streams.state());
        }
        stopped.countDown();
    }
}
