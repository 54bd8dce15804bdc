package kstreams.runbooks.facts;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The facts of one KafkaStreams, read once: a topology does not change while it runs. */
final class RunningFacts implements RunningFactsMBean {
    private final String facts;
    private final int notRead;
    private final long readMs;

    private RunningFacts(Facts facts, long began) {
        this.facts = facts.yaml();
        this.notRead = facts.unread();
        this.readMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    }

    /** Those of a KafkaStreams of releases 2.4 to 4.3; what its class does not show is a fact that was not read. */
    static RunningFacts of(Object streams) {
        long began = System.nanoTime();
        try {
            String field = Peek.has(streams, "applicationConfigs") ? "applicationConfigs" : "config";
            Object config = Peek.field(streams, field);
            Map<?, ?> settings = (Map<?, ?>) Peek.call(config, "originals");
            return new RunningFacts(TopologyFacts.read(builder(streams), settings, null), began);
        } catch (NotRead reason) {
            return without(reason, began);
        } catch (RuntimeException | LinkageError failure) {
            return without(new NotRead("the reader failed with " + failure.getClass().getName()
                    + "; declare the topology manually"), began);
        }
    }

    /** Those of a KafkaStreams that a thread does not show. */
    static RunningFacts without(NotRead reason, long began) {
        Facts facts = Facts.none();
        facts.notRead("topology", reason.getMessage());
        return new RunningFacts(facts, began);
    }

    private static Object builder(Object streams) throws NotRead {
        if (Peek.has(streams, "internalTopologyBuilder")) {
            return Peek.field(streams, "internalTopologyBuilder");
        }
        if (!Peek.has(streams, "topologyMetadata")) {
            return Peek.field(((Object[]) Peek.field(streams, "threads"))[0], "builder"); // release 2.4
        }
        Map<?, ?> builders = Peek.map(Peek.field(streams, "topologyMetadata"), "builders");
        if (builders.size() != 1) {
            throw new NotRead("the application has " + builders.size()
                    + " named topologies (expected 1); declare its facts manually");
        }
        return builders.values().iterator().next();
    }

    @Override
    public String getFacts() {
        return facts;
    }

    @Override
    public int getNotRead() {
        return notRead;
    }

    @Override
    public long getReadMs() {
        return readMs;
    }
}
