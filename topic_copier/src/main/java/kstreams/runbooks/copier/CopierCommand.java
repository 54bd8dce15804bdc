package kstreams.runbooks.copier;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.streams.Topology;

/** {@code java -jar topic-copier.jar --config FILE}; the last line on standard output says why it has ended. */
public final class CopierCommand {
    private static final int ENDED = 0;
    private static final int REFUSED = 1;
    /** System property: seconds before an end with exit code 1. SIGTERM ends them at once. */
    static final String PAUSE = "topic.copier.pause.s";

    private CopierCommand() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        try {
            Settings settings = Settings.read(files(arguments));
            Events.about(settings.group);
            Ending ending;
            try (Cluster cluster = new Cluster(settings)) {
                ending = new Copier(settings, cluster).run();
            }
            end(ending);
        } catch (Refused refused) {
            end(REFUSED, "REFUSED, nothing was copied: " + refused.getMessage());
        }
    }

    /** For topology-facts.jar, which describes a release from it: what these settings run, without a cluster. */
    public static Topology topology(Properties settings) {
        try {
            return CopyTopology.of(new Settings(settings), Map.of(), Map.of(), new LongAdder());
        } catch (Refused refused) {
            throw new IllegalArgumentException(refused.getMessage());
        }
    }

    private static List<Path> files(String[] arguments) throws Refused {
        List<Path> files = new ArrayList<>();
        for (int at = 0; at < arguments.length; at += 2) {
            if (!"--config".equals(arguments[at]) || at + 1 == arguments.length) {
                throw new Refused("'" + arguments[at] + "' is not --config FILE; several are read in turn, and a later"
                    + " one overrides an earlier one.");
            }
            files.add(Path.of(arguments[at + 1]));
        }
        if (files.isEmpty()) {
            throw new Refused("No file is given: java -jar topic-copier.jar --config FILE.");
        }
        return files;
    }

    private static void end(Ending ending) throws InterruptedException {
        if (ending.hasFailed()) {
            end(REFUSED, "FAILED: " + ending.sentence());
        }
        end(ENDED, "ENDED: " + ending.sentence());
    }

    /** Nothing prints a line after this one. A supervisor that restarts at once would start a JVM after the other. */
    private static void end(int code, String line) throws InterruptedException {
        Events.sayLast(line);
        System.err.flush();
        if (code == REFUSED) {
            TimeUnit.SECONDS.sleep(Long.getLong(PAUSE, 0));
        }
        Runtime.getRuntime().halt(code);
    }
}
