package kstreams.runbooks.copier;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeStreamsGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberDescription;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Reads what the copier has to know of its cluster, and writes nothing. */
final class Cluster implements AutoCloseable {
    private static final Duration CLOSE = Duration.ofSeconds(5);
    /** The session timeout of a classic group, and some. */
    private static final Duration LEAVES = Duration.ofSeconds(15);
    /** Brokers look for transactions that have timed out every ten seconds. */
    static final Duration LOOKED_FOR = Duration.ofSeconds(25);
    private static final Duration LOOK_AGAIN = Duration.ofMillis(500);

    private final Settings settings;
    private final Admin admin;

    Cluster(Settings settings) throws Refused {
        this.settings = settings;
        Map<String, Object> login = settings.admin();
        try {
            admin = Admin.create(login);
        } catch (KafkaException error) {
            throw Failure.of(error);
        }
    }

    /** Each topic of the routes by its name; refused if one is not there or its settings may not be read. */
    Map<String, TopicFacts> topics() throws Refused {
        Map<String, TopicDescription> described = describe();
        for (String name : names()) {
            if (!described.containsKey(name)) {
                throw new Refused(absent(name));
            }
        }
        Map<String, Map<String, String>> configs = configs();
        Map<String, TopicFacts> topics = new TreeMap<>();
        described.forEach((name, topic) -> topics.put(name, new TopicFacts(name, topic.topicId(),
            topic.partitions().size(), rights(topic.authorizedOperations()), configs.get(name))));
        return topics;
    }

    /** Each topic of the routes that exists, without its settings: what can change while the copier runs. */
    Map<String, TopicDescription> describe() throws Refused {
        var futures = admin.describeTopics(names(), new DescribeTopicsOptions().includeAuthorizedOperations(true))
            .topicNameValues();
        Map<String, TopicDescription> described = new TreeMap<>();
        for (String name : names()) {
            try {
                described.put(name, futures.get(name).get());
            } catch (ExecutionException error) {
                if (error.getCause() instanceof AuthorizationException) {
                    throw new Refused("The copier's login may not see topic " + name + ", nor whether it exists; grant"
                        + " it Read on a source, Read and Write on a target, and DescribeConfigs on both.");
                }
                if (!(error.getCause() instanceof UnknownTopicOrPartitionException)) {
                    throw Failure.of(error);
                }
            } catch (InterruptedException error) {
                throw Failure.of(error);
            }
        }
        return described;
    }

    static String absent(String topic) {
        return "Topic " + topic + " does not exist; create it with the partitions and the settings that its route"
            + " needs, or correct routes.";
    }

    /** What the login may do with the group; null if the cluster has no group of this name. */
    Set<AclOperation> groupRights() throws Refused {
        return ofGroup(group -> rights(group.authorizedOperations()), group -> rights(group.authorizedOperations()));
    }

    /** A copier that was killed, or has failed, is a member for its session timeout; it may have had another `until`. */
    void awaitAlike() throws Refused {
        long until = System.nanoTime() + LEAVES.toNanos();
        while (true) {
            try {
                requireAlike();
                return;
            } catch (Refused error) {
                if (System.nanoTime() > until) {
                    throw error;
                }
                LockSupport.parkNanos(LOOK_AGAIN.toNanos());
            }
        }
    }

    /** Refused if a member of the group copies otherwise: partitions of one route would be copied in two ways. */
    void requireAlike() throws Refused {
        List<String> members = ofGroup(
            group -> group.members().stream().map(MemberDescription::clientId).collect(Collectors.toList()),
            group -> group.members().stream().map(StreamsGroupMemberDescription::clientId).collect(Collectors.toList()));
        for (String member : members == null ? List.<String>of() : members) {
            if (!member.contains(settings.mark())) {
                throw new Refused("Group " + settings.group + " has a member with other routes, mode, until or order"
                    + " (client " + member + "): its partitions would be copied in another way. Give all instances the"
                    + " same settings, or stop that one; a killed one leaves the group after its session timeout.");
            }
        }
    }

    private <T> T ofGroup(Function<ConsumerGroupDescription, T> consumers, Function<StreamsGroupDescription, T> streams)
            throws Refused {
        List<String> name = List.of(settings.group);
        T found = described(admin.describeConsumerGroups(name,
            new DescribeConsumerGroupsOptions().includeAuthorizedOperations(true)).describedGroups(), consumers);
        return found != null ? found : described(admin.describeStreamsGroups(name,
            new DescribeStreamsGroupsOptions().includeAuthorizedOperations(true)).describedGroups(), streams);
    }

    /** Null if there is no such group of this type. */
    private <G, T> T described(Map<String, KafkaFuture<G>> groups, Function<G, T> part) throws Refused {
        try {
            return part.apply(groups.get(settings.group).get());
        } catch (ExecutionException error) {
            if (error.getCause() instanceof GroupIdNotFoundException) {
                return null;
            }
            throw Failure.of(error);
        } catch (InterruptedException error) {
            throw Failure.of(error);
        }
    }

    /** In this order: a committed offset that is past an end is so in truth, as ends only grow meanwhile. */
    OffsetFacts offsets(Collection<TopicPartition> partitions) throws Refused {
        Map<TopicPartition, OffsetAndMetadata> committed = read(false);
        committed.keySet().retainAll(partitions);
        return new OffsetFacts(committed, firsts(partitions), ends(partitions));
    }

    /** What the group has committed. */
    Map<TopicPartition, Long> committed() throws Refused {
        Map<TopicPartition, Long> committed = new HashMap<>();
        read(false).forEach((partition, offset) -> committed.put(partition, offset.offset()));
        return committed;
    }

    /** Of each of these partitions, at a moment at which no open transaction has committed an offset of it. */
    Map<TopicPartition, Long> stablyCommitted(Set<TopicPartition> partitions) throws Refused {
        Map<TopicPartition, Long> committed = new HashMap<>();
        long until = System.nanoTime() + settings.transactionTimeout().plus(LOOKED_FOR).toNanos();
        while (true) {
            // An offset of an open transaction is left out of the answer.
            read(true).forEach((partition, offset) -> committed.put(partition, offset.offset()));
            if (committed.keySet().containsAll(partitions)) {
                return committed;
            }
            if (System.nanoTime() > until) {
                throw new Refused("An open transaction has committed offsets of group " + settings.group + " for more than "
                    + settings.transactionTimeout().plus(LOOKED_FOR).toSeconds() + " s. Start the copier again once it has"
                    + " ended.");
            }
            LockSupport.parkNanos(LOOK_AGAIN.toNanos());
        }
    }

    private Map<TopicPartition, OffsetAndMetadata> read(boolean stable) throws Refused {
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>(get(admin.listConsumerGroupOffsets(
            settings.group, new ListConsumerGroupOffsetsOptions().requireStable(stable)).partitionsToOffsetAndMetadata()));
        committed.values().removeIf(Objects::isNull);
        return committed;
    }

    /** The first offset of each partition with this time or a later one; -1 if there is none. */
    Map<TopicPartition, Long> since(Collection<TopicPartition> partitions, long atMs) throws Refused {
        return offsets(partitions, OffsetSpec.forTimestamp(atMs), IsolationLevel.READ_UNCOMMITTED);
    }

    /** The first offset of each partition. */
    Map<TopicPartition, Long> firsts(Collection<TopicPartition> partitions) throws Refused {
        return offsets(partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED);
    }

    /** The end of each partition. */
    Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) throws Refused {
        return offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED);
    }

    /** The last stable offset of each partition: as far as it can be read now. */
    Map<TopicPartition, Long> stableEnds(Collection<TopicPartition> partitions) throws Refused {
        return offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED);
    }

    /** The targets that have had a record. */
    Set<String> written(Map<String, TopicFacts> topics) throws Refused {
        return ends(partitions(topics, route -> route.to)).entrySet().stream().filter(end -> end.getValue() > 0)
            .map(end -> end.getKey().topic()).collect(Collectors.toSet());
    }

    /** Every partition of every source, or of every target. */
    List<TopicPartition> partitions(Map<String, TopicFacts> topics, Function<Route, String> which) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (Route route : settings.routes) {
            String name = which.apply(route);
            for (int number = 0; number < topics.get(name).partitions; number++) {
                partitions.add(new TopicPartition(name, number));
            }
        }
        return partitions;
    }

    @Override
    public void close() {
        admin.close(CLOSE);
    }

    private Map<TopicPartition, Long> offsets(Collection<TopicPartition> partitions, OffsetSpec which,
            IsolationLevel isolation) throws Refused {
        Map<TopicPartition, OffsetSpec> asked = partitions.stream().collect(Collectors.toMap(one -> one, one -> which));
        return get(admin.listOffsets(asked, new ListOffsetsOptions(isolation)).all()).entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().offset()));
    }

    private List<String> names() {
        return settings.routes.stream().flatMap(route -> Stream.of(route.from, route.to)).collect(Collectors.toList());
    }

    private Map<String, Map<String, String>> configs() throws Refused {
        List<ConfigResource> resources = names().stream()
            .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name)).collect(Collectors.toList());
        Map<String, Map<String, String>> configs = new HashMap<>();
        Map<ConfigResource, KafkaFuture<Config>> answers = admin.describeConfigs(resources).values();
        for (ConfigResource resource : resources) {
            Map<String, String> values = new HashMap<>();
            Config config = get(answers.get(resource), "DescribeConfigs on topic " + resource.name());
            for (ConfigEntry entry : config.entries()) {
                values.put(entry.name(), entry.value());
            }
            configs.put(resource.name(), values);
        }
        return configs;
    }

    private static <T> T get(KafkaFuture<T> future) throws Refused {
        return get(future, null);
    }

    private static <T> T get(KafkaFuture<T> future, String right) throws Refused {
        try {
            return future.get();
        } catch (ExecutionException error) {
            if (right != null && error.getCause() instanceof AuthorizationException) {
                throw new Refused("The copier's login has no right " + right + "; grant it.");
            }
            throw Failure.of(error);
        } catch (InterruptedException error) {
            throw Failure.of(error);
        }
    }

    private static Set<AclOperation> rights(Set<AclOperation> answered) {
        return answered == null ? EnumSet.noneOf(AclOperation.class) : answered;
    }
}
