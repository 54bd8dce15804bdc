package kstreams.runbooks.facts;

import java.util.Map;

/**
 * The facts of a built topology that its description omits, as YAML in the words of a declaration.
 *
 * <pre>
 * System.out.print(TopologyFacts.yaml(topology, properties));
 * </pre>
 *
 * A fact in the document was read from the objects of the library. Each other one is in the list {@code not_read} with
 * the reason. Times are in ms, sizes in bytes.
 */
public final class TopologyFacts {
    private static final int FORMAT = 1;

    private TopologyFacts() {}

    /**
     * The facts of a Topology of Kafka Streams 2.4 to 4.3. {@code properties} are the application's settings, or null.
     *
     * It never throws: if the object is not a Topology, the document has one fact that was not read.
     */
    public static String yaml(Object topology, Map<?, ?> properties) {
        return document(topology, properties, null).yaml();
    }

    /** {@code code} gets what it reads the code of; null: nothing does. */
    static Facts document(Object topology, Map<?, ?> properties, CodeReader code) {
        Facts facts = read(topology, properties, code);
        refused(facts, topology, properties);
        return facts;
    }

    /** What the library refuses of the settings. An agent does not ask: its application runs. */
    private static void refused(Facts facts, Object topology, Map<?, ?> properties) {
        if (properties == null) {
            return;
        }
        try {
            Library library = Library.of(topology);
            new Refusals(library, new Settings(library, properties)).read(facts);
        } catch (NotRead reason) {
            return; // the topology was not read either
        } catch (RuntimeException | LinkageError | StackOverflowError failure) {
            facts.notRead("refused", "the reader failed with " + failure.getClass().getName()
                    + "; only a start shows whether the library takes the settings");
        }
    }

    static Facts read(Object topology, Map<?, ?> properties, CodeReader code) {
        Facts facts = Facts.none();
        facts.read("facts", () -> FORMAT);
        try {
            read(facts, new Program(topology), properties, code);
        } catch (NotRead reason) {
            facts.notRead("topology", reason.getMessage());
        } catch (RuntimeException | LinkageError | StackOverflowError failure) {
            facts.notRead("topology", "the reader failed with " + failure.getClass().getName()
                    + "; declare the topology manually");
        }
        return facts;
    }

    private static void read(Facts facts, Program program, Map<?, ?> properties, CodeReader code) throws NotRead {
        Settings settings = new Settings(program.library, properties);
        SerdeReader serdes = new SerdeReader(program.library, settings);
        OperatorReader operators = new OperatorReader(program);
        TopicReader topics = new TopicReader(program, serdes);
        SuppressionReader suppressions = new SuppressionReader(program, serdes);
        facts.read("library", program.library::release);
        facts.read("topology", () -> String.valueOf(Peek.call(program.builder, "describe")));
        if (properties == null) {
            facts.notRead("config", "no settings were given; give them");
        } else {
            settings.read(facts);
            serdes.setting(facts, "default_key_serde", "default.key.serde");
            serdes.setting(facts, "default_value_serde", "default.value.serde");
        }
        new StoreReader(program, settings, serdes, operators).read(facts.at("stores"));
        Facts held = facts.at("suppressions");
        topics.read(facts.at("topics"));
        Facts all = facts.at("operators");
        for (Program.Node node : program.nodes.values()) {
            if (program.isSource(node)) {
                topics.readSource(all.at(node.name), node);
            } else if (program.isSink(node)) {
                topics.readSink(all.at(node.name), node);
            } else if (operators.role(node) == OperatorReader.Role.SUPPRESS) {
                suppressions.read(held.at(node.name), node);
            } else {
                operators.read(all, node);
            }
        }
        if (code != null) {
            code.of(program, serdes, properties);
        }
    }
}
