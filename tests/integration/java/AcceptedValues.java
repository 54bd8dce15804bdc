import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.StreamsConfig;

/** Prints what this release's own StreamsConfig says of values that it does not take, one setting per line. */
public class AcceptedValues {
    public static void main(final String[] args) {
        for (final String setting : new String[] {"upgrade.from", "processing.guarantee", "group.protocol"}) {
            final Map<String, Object> properties = new HashMap<>();
            properties.put("application.id", "any");
            properties.put("bootstrap.servers", "localhost:1");
            properties.put(setting, "no such value");
            try {
                new StreamsConfig(properties);
                System.out.println(setting + " | takes anything");
            } catch (final ConfigException refused) {
                System.out.println(setting + " | " + refused.getMessage());
            }
        }
    }
}
