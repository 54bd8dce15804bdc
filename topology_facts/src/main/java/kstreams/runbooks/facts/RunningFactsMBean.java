package kstreams.runbooks.facts;

/** The facts of a KafkaStreams that runs, as {@code kstreams.runbooks:type=topology-facts,client-id=ID}. */
public interface RunningFactsMBean {
    /** The facts as YAML. */
    String getFacts();

    /** The number of facts that were not read; the YAML has the reason of each one. */
    int getNotRead();

    /** The time that the agent's thread took to read them, in ms. */
    long getReadMs();
}
