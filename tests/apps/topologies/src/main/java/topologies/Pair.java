package topologies;

import java.util.Properties;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;

/** An application before and after a change. */
public record Pair(Topology before, Topology after) {

    /** The code changes. */
    public static Pair of(Consumer<StreamsBuilder> before, Consumer<StreamsBuilder> after) {
        return of(before, new Properties(), after, new Properties());
    }

    /** The code stays; what changes stands outside of it: a setting, a topic, the version of the library. */
    public static Pair same(Consumer<StreamsBuilder> code) {
        return of(code, code);
    }

    /** The code stays; {@code topology.optimization} changes. */
    public static Pair optimized(String before, String after, Consumer<StreamsBuilder> code) {
        return of(code, optimization(before), code, optimization(after));
    }

    /** Both may change. */
    public static Pair of(
            Consumer<StreamsBuilder> before,
            Properties settingsBefore,
            Consumer<StreamsBuilder> after,
            Properties settingsAfter) {
        return new Pair(built(before, settingsBefore), built(after, settingsAfter));
    }

    /** The topology is put together without the DSL. */
    public static Pair of(Supplier<Topology> before, Supplier<Topology> after) {
        return new Pair(before.get(), after.get());
    }

    /** The settings that the DSL's compiler reads. */
    public static Properties optimization(String value) {
        Properties settings = new Properties();
        settings.put("application.id", "pair"); // required, never printed
        settings.put("bootstrap.servers", "none:0"); // the same; nothing connects
        settings.put("topology.optimization", value);
        return settings;
    }

    private static Topology built(Consumer<StreamsBuilder> code, Properties settings) {
        StreamsBuilder builder = new StreamsBuilder();
        code.accept(builder);
        return settings.isEmpty() ? builder.build() : builder.build(settings);
    }
}
