package kstreams.runbooks.copier;

import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;

/** A topic as the cluster has it now. */
final class TopicFacts {
    final String name;
    final Uuid id;
    final int partitions;
    /** What the copier's login may do with it. */
    final Set<AclOperation> rights;
    private final Map<String, String> config;

    TopicFacts(String name, Uuid id, int partitions, Set<AclOperation> rights, Map<String, String> config) {
        this.name = name;
        this.id = id;
        this.partitions = partitions;
        this.rights = rights;
        this.config = config;
    }

    String value(String setting) throws Refused {
        String value = config.get(setting);
        if (value == null) {
            throw new Refused(name + ": the broker shows no value of " + setting
                + "; without it a copy cannot be checked. Use a broker of Kafka 3.6 or later.");
        }
        return value;
    }

    /** A number of milliseconds or bytes; -1 is no limit, shown as the largest number. */
    long limit(String setting) throws Refused {
        long value = Long.parseLong(value(setting));
        return value < 0 ? Long.MAX_VALUE : value;
    }

    boolean compacts() throws Refused {
        return value("cleanup.policy").contains("compact");
    }

    boolean deletes() throws Refused {
        return value("cleanup.policy").contains("delete");
    }

    boolean hasBrokersTime() throws Refused {
        return "LogAppendTime".equals(value("message.timestamp.type"));
    }
}
