package kstreams.runbooks.copier;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/** From the checks to the end: all routes of the process start together and stop together. */
final class Copier {
    private static final Duration STOP = Duration.ofSeconds(20);
    private static final int UNCLEAN = 1;

    private final Settings settings;
    private final Cluster cluster;
    private final Ending ending = new Ending();

    Copier(Settings settings, Cluster cluster) {
        this.settings = settings;
        this.cluster = cluster;
    }

    /** Returns why it has ended; refused if it may not start. */
    Ending run() throws Refused, InterruptedException {
        StartChecks start = new StartChecks(settings, cluster);
        if (settings.until.isGiven() && settings.until.left(start.offsets.committed) == 0) {
            ending.done("until was reached before: every partition is committed at its offset");
            return ending;
        }
        start.remarks.forEach(Events::say);
        CopiedBefore before = new CopiedBefore(settings, cluster, start);
        before.requireNot();
        Figures figures = new Figures(settings);
        figures.committed(start.offsets.committed);
        KafkaStreams streams = streams(start, before.ends(), figures);
        figures.register(() -> streams.state().name());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(streams), "copier-stop"));
        Events.say("starts, version " + Figures.version() + ", " + settings.mode.written + ", " + settings.order
            + ": " + settings.routes);
        streams.start();
        new Watch(settings, cluster, start, figures, ending).start();
        ending.await();
        boolean left = streams.close(leave());
        Ending why = ending.hasFailed() ? explained() : left ? ending : notLeft();
        if (why.hasFailed()) {
            figures.error(why.sentence());
        }
        if (!left) {
            // A thread that still runs keeps its partitions from the other instances.
            System.clearProperty(CopierCommand.PAUSE);
        }
        return why;
    }

    private KafkaStreams streams(StartChecks start, Map<String, long[]> ends, Figures figures) throws Refused {
        Properties kafka = settings.kafka();
        Topology topology = CopyTopology.of(settings, start.topics, ends, figures.copied);
        KafkaStreams streams;
        TaskChecks checks = new TaskChecks(settings, cluster, start);
        try {
            boolean isHeld = settings.until.isGiven() || settings.order.isByTime();
            kafka.put(Clients.WRAPPER, (isHeld ? Clients.Wrapped.class : CopyClients.Checking.class).getName());
            CopyClients clients = isHeld
                ? new Clients(checks, new Bound(settings.until, figures::committed), byTime(start, figures))
                : new CopyClients(checks);
            streams = new KafkaStreams(topology, new StreamsConfig(kafka), clients);
        } catch (KafkaException error) {
            throw Failure.of(error);
        }
        streams.setUncaughtExceptionHandler(error -> {
            String sentence = Poison.first() == null ? Failure.sentence(error) : Poison.first();
            figures.error(sentence);
            ending.failed(sentence);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.setStateListener((now, before) -> {
            Events.say(before + " -> " + now);
            if (now == KafkaStreams.State.ERROR) {
                ending.failed("Kafka Streams is in state ERROR. Start the copier again.");
            }
        });
        return streams;
    }

    /** Null: the records are copied as they are read. */
    private ByTime byTime(StartChecks start, Figures figures) {
        if (!settings.order.isByTime()) {
            return null;
        }
        ByTime byTime = new ByTime(settings.order, start.offsets.first.keySet(), settings.until, ending);
        figures.merged(byTime::reachedMs);
        return byTime;
    }

    private static Ending notLeft() {
        Ending notLeft = new Ending();
        notLeft.failed("until is reached, and " + STOP.toSeconds() + " s later a thread still runs: the group has a"
            + " member until its session timeout. Start the copier again: it ends at once.");
        return notLeft;
    }

    /** A topic that has changed is a better reason than the exception that it led to. */
    private Ending explained() {
        if (Poison.first() != null) {
            return ending;
        }
        Ending explained = new Ending();
        try {
            new StartChecks(settings, cluster);
            return ending;
        } catch (Refused refused) {
            explained.failed(refused.getMessage());
            return explained;
        }
    }

    /** SIGTERM: the exit code is 143, or 1 if the last transaction or the group was not left in time. */
    private void stop(KafkaStreams streams) {
        Events.say("stops");
        boolean clean = streams.close(leave());
        Events.sayLast(clean ? "STOPPED by a signal: what was copied is committed, and the group is left"
            : "STOPPED, not cleanly: after " + STOP.toSeconds() + " s a thread still ran. Its transaction and its"
                + " member end by their timeouts; nothing is lost or copied twice.");
        if (!clean) {
            Runtime.getRuntime().halt(UNCLEAN);
        }
    }

    private static CloseOptions leave() {
        return CloseOptions.groupMembershipOperation(GroupMembershipOperation.LEAVE_GROUP).withTimeout(STOP);
    }
}
