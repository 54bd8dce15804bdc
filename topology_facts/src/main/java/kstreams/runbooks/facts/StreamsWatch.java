package kstreams.runbooks.facts;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Finds each KafkaStreams through its threads and registers an MBean for it.
 *
 * A thread of Kafka Streams reports its states to the object that made it, in all releases from 2.4 to 4.3. A
 * KafkaStreams is therefore found when it starts. The watch holds none of them: a closed one can be collected, and its
 * MBean goes with it.
 */
final class StreamsWatch implements Runnable {
    private static final long PERIOD_MS = 1_000;
    private static final String THREAD = ".streams.processor.internals.(Global)?StreamThread";
    private static final int MORE_THREADS = 64;
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();
    private final Map<WeakReference<Object>, ObjectName> found = new HashMap<>();

    @Override
    public void run() {
        while (true) {
            try {
                look();
                forget();
                Thread.sleep(PERIOD_MS);
            } catch (InterruptedException ended) {
                return;
            } catch (Exception | Error failure) {
                // An application may end at an uncaught exception of any thread.
                System.err.println("topology-facts: the agent ends after " + failure
                        + ", and the application goes on without it; declare its facts manually");
                return;
            }
        }
    }

    private void look() throws JMException {
        for (Thread thread : threads()) {
            if (thread == null || !thread.getClass().getName().matches(".*" + THREAD)) {
                continue;
            }
            long began = System.nanoTime();
            try {
                Object streams = Peek.field(Peek.field(thread, "stateListener"), "this$0");
                if (isNew(streams)) {
                    register(streams, String.valueOf(Peek.field(streams, "clientId")), RunningFacts.of(streams));
                }
            } catch (NotRead reason) {
                if (isNew(thread)) {
                    register(thread, thread.getName(), RunningFacts.without(reason, began));
                }
            }
        }
    }

    /** All threads, without their stacks: those would stop the application for a moment. */
    private static Thread[] threads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() + MORE_THREADS];
        root.enumerate(threads, true);
        return threads;
    }

    private boolean isNew(Object subject) {
        return found.keySet().stream().noneMatch(known -> known.get() == subject);
    }

    private void register(Object subject, String client, RunningFacts facts) throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        String plain = client.matches("[\\w. %-]+") ? client : ObjectName.quote(client);
        String name = "kstreams.runbooks:type=topology-facts,client-id=" + plain;
        ObjectName free = new ObjectName(name);
        for (int instance = 2; server.isRegistered(free); instance++) {
            free = new ObjectName(name + ",instance=" + instance);
        }
        server.registerMBean(facts, free);
        found.put(new WeakReference<>(subject, gone), free);
    }

    private void forget() throws JMException {
        for (Reference<?> one = gone.poll(); one != null; one = gone.poll()) {
            ObjectName name = found.remove(one);
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            if (name != null && server.isRegistered(name)) {
                server.unregisterMBean(name);
            }
        }
    }
}
