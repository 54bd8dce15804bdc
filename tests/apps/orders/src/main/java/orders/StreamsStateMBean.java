package orders;

/**
 * What Kafka Streams says of itself, as {@code orders:type=streams-state}. Streams closes its metrics before it reaches
 * ERROR or NOT_RUNNING, so all of its own MBeans, state included, are gone by the time somebody asks.
 */
public interface StreamsStateMBean {
    /** The name of a {@code KafkaStreams.State}. */
    String getState();

    /** When this state was entered, ms since the epoch. */
    long getSince();

    /** The root cause that the first thread to fail died of, empty while none has. */
    String getFailure();
}
