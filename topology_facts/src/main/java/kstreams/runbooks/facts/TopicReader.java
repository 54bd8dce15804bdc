package kstreams.runbooks.facts;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Reads sources, sinks and the topics of both. */
final class TopicReader {
    private final Program program;
    private final SerdeReader serdes;
    private final Map<String, List<Object>> keys = new TreeMap<>();
    private final Map<String, List<Object>> values = new TreeMap<>();

    TopicReader(Program program, SerdeReader serdes) {
        this.program = program;
        this.serdes = serdes;
    }

    /** Reads one source: its topics, the offset that it begins with, its timestamps and its serdes. */
    void readSource(Facts source, Program.Node node) {
        source.read("pattern", () -> text(Peek.field(node.factory, "pattern")));
        source.read("topics", () -> program.fixedTopics(node));
        source.read("offset_reset", () -> reset(node));
        source.read("timestamp_extractor", () -> state(Peek.field(node.factory, "timestampExtractor")));
        serdes.key(source, () -> Peek.field(node.factory, "keyDeserializer"));
        serdes.value(source, () -> Peek.field(node.factory, "valDeserializer"));
    }

    /** Reads one sink: its topic, or the class that chooses one for each record. */
    void readSink(Facts sink, Program.Node node) {
        sink.read("dynamic", () -> program.fixedTopic(node) == null);
        sink.read("topic", () -> program.fixedTopic(node));
        sink.read("topic_extractor", () -> program.fixedTopic(node) == null
                ? Library.lastingName(Peek.field(node.factory, "topicExtractor"))
                : null);
        sink.read("partitioner", () -> state(chosen(node)));
        serdes.key(sink, () -> Peek.field(node.factory, "keySerializer"));
        serdes.value(sink, () -> Peek.field(node.factory, "valSerializer"));
    }

    /** Reads the topics that sources name and sinks write. */
    void read(Facts facts) {
        Set<String> named = new TreeSet<>();
        for (Program.Node node : program.nodes.values()) {
            try {
                if (program.isSource(node)) {
                    for (Object topic : program.topicsOf(node)) {
                        named.add((String) topic);
                        add(keys, topic, Peek.field(node.factory, "keyDeserializer"));
                        add(values, topic, Peek.field(node.factory, "valDeserializer"));
                    }
                } else if (program.isSink(node) && program.fixedTopic(node) != null) {
                    String topic = program.fixedTopic(node);
                    named.add(topic);
                    add(keys, topic, Peek.field(node.factory, "keySerializer"));
                    add(values, topic, Peek.field(node.factory, "valSerializer"));
                }
            } catch (NotRead reason) {
                facts.notRead(node.name, reason.getMessage());
            }
        }
        for (String topic : named) {
            readTopic(facts.at(topic), topic);
        }
    }

    private static void add(Map<String, List<Object>> formats, Object topic, Object format) {
        formats.computeIfAbsent((String) topic, name -> new ArrayList<>()).add(format);
    }

    private void readTopic(Facts topic, String name) {
        topic.read("internal", () -> program.internalTopics().containsKey(name));
        topic.read("partitions", () -> partitions(name));
        topic.read("joined_with", () -> joinedWith(name));
        serdes.keys(topic, keys.get(name));
        serdes.values(topic, values.get(name));
        readKey(topic, name);
    }

    /** Whose keys the program writes there; others write a topic that it only reads. */
    private void readKey(Facts topic, String name) {
        try {
            Collection<Program.Node> sinks = program.writing(Collections.singleton(name));
            if (!sinks.isEmpty()) {
                topic.read("key_of", () -> new KeyReader(program).before(sinks));
            }
        } catch (NotRead reason) {
            topic.notRead("key_of", reason.getMessage());
        }
    }

    /** The number that the program fixes: null for an internal topic without one. */
    private Object partitions(String topic) throws NotRead {
        if (!program.internalTopics().containsKey(topic)) {
            throw new NotRead("a program does not show the partitions of topic " + topic
                    + "; they are those of the cluster");
        }
        Object properties = program.internalTopics().get(topic);
        return properties.equals("") ? null : Peek.field(properties, "numberOfPartitions");
    }

    /** The topics, and the patterns of topics, that have to have as many partitions as this one. */
    private Object joinedWith(String topic) throws NotRead {
        Set<Object> others = new TreeSet<>();
        for (Object group : (Collection<?>) Peek.field(program.builder, "copartitionSourceGroups")) {
            Set<Object> together = new TreeSet<>();
            for (Object source : (Collection<?>) group) {
                together.addAll(program.topicsOf(program.nodes.get(source)));
            }
            if (together.contains(topic)) {
                others.addAll(together);
            }
        }
        others.remove(topic);
        return others;
    }

    /** earliest, latest, none or by_duration; null if the source leaves it to the setting. */
    private Object reset(Program.Node node) throws NotRead {
        Object pattern = Peek.field(node.factory, "pattern");
        Set<String> found = new TreeSet<>();
        for (String reset : new String[] {"earliest", "latest", "none", "duration"}) {
            Object inTopics = Peek.fieldOrNull(program.builder, reset + "ResetTopics");
            Object inPatterns = Peek.fieldOrNull(program.builder, reset + "ResetPatterns");
            for (Object topic : program.fixedTopics(node)) {
                if (contains(inTopics, topic)) {
                    found.add(reset);
                }
            }
            if (pattern != null && contains(inPatterns, pattern)) {
                found.add(reset);
            }
        }
        if (found.size() > 1) {
            throw new NotRead("source " + node.name + " has topics with " + String.join(" and ", found)
                    + "; declare the reset manually");
        }
        return found.isEmpty() ? null : found.iterator().next().replace("duration", "by_duration");
    }

    private static boolean contains(Object names, Object name) {
        if (names == null) {
            return false; // a reset of later releases
        }
        Collection<?> all = names instanceof Map ? ((Map<?, ?>) names).keySet() : (Collection<?>) names;
        String text = text(name);
        return all.stream().anyMatch(one -> text.equals(text(one)));
    }

    /**
     * The partitioner of a sink, null for the library's. A foreign-key join puts those of TableJoined into lambdas of its
     * own: the one of the left table for the answers, the other for what it asks.
     */
    private Object chosen(Program.Node sink) throws NotRead {
        Object partitioner = Peek.field(sink.factory, "partitioner");
        if (partitioner == null || !Library.isLambda(partitioner)
                || !Library.withoutLambda(Peek.nameOf(partitioner)).endsWith("kstream.internals.KTableImpl")) {
            return partitioner;
        }
        for (Field field : partitioner.getClass().getDeclaredFields()) {
            Object joined = Peek.field(partitioner, field.getName());
            if (Peek.nameOf(joined).endsWith("TableJoinedInternal")) {
                String topic = program.fixedTopic(sink).toLowerCase(Locale.ROOT);
                return Peek.field(joined, topic.contains("-registration") ? "otherPartitioner" : "partitioner");
            }
        }
        return null; // the answers go to the partition that the question came from
    }

    private Object state(Object of) throws NotRead {
        return of == null ? null : new StateReader(program.library).name(of);
    }

    private static String text(Object of) {
        return of instanceof Pattern ? ((Pattern) of).pattern() : (String) of;
    }
}
