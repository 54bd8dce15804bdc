package kstreams.runbooks.facts;

import java.lang.instrument.Instrumentation;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The Java agent: each KafkaStreams that runs in the JVM has an MBean with the facts of its topology.
 *
 * <pre>
 * java -javaagent:topology-facts.jar -jar application.jar
 * </pre>
 *
 * It changes no class and waits for nothing: a daemon thread finds the threads of Kafka Streams.
 */
public final class FactsAgent {
    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private FactsAgent() {}

    /** Called by the JVM before the application's main. */
    public static void premain(String options, Instrumentation instrumentation) {
        start();
    }

    /** Called by the JVM if the agent is attached to a running application. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        start();
    }

    private static void start() {
        if (!STARTED.compareAndSet(false, true)) {
            return; // attached twice: one thread finds all
        }
        try {
            Thread watch = new Thread(new StreamsWatch(), "topology-facts");
            watch.setDaemon(true);
            watch.start();
        } catch (RuntimeException | Error refused) {
            // An exception here would end the application: without the thread there are no facts.
            System.err.println("topology-facts: the agent does not start (" + refused
                    + "), and the application goes on without it; declare its facts manually");
        }
    }
}
