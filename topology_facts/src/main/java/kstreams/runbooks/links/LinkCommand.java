package kstreams.runbooks.links;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Prints the references from the classes of a class path into Kafka that the JVM does not link. It starts nothing.
 *
 * <pre>
 * java -cp topology-facts.jar kstreams.runbooks.links.LinkCommand --class-path 'app.jar:libraries/*' \
 *     [--package org.apache.kafka] [--java 17] [--format text|json|sarif] [--all true]
 * </pre>
 *
 * Exit codes: 0 everything links, or a handler takes its error; 1 a reference does not; 2 bad input, with one sentence
 * on stderr; 3 no reference was found that does not link, and not every class was scanned.
 */
public final class LinkCommand {
    private static final String USAGE = "--class-path PATH is needed; --package NAME, --java RELEASE, "
            + "--format text|json|sarif and --all true|false are possible";
    private static final int FOUND = 1;
    private static final int BAD_INPUT = 2;
    private static final int NOT_KNOWN = 3;

    private LinkCommand() {}

    /** Prints the report and ends the JVM with the code. */
    public static void main(String[] arguments) {
        int code = BAD_INPUT;
        try {
            code = run(options(arguments), System.out);
        } catch (NotScanned reason) {
            System.err.println("topology-facts: " + reason.getMessage());
        }
        System.exit(code);
    }

    private static int run(Map<String, String> options, PrintStream out) throws NotScanned {
        String name = options.getOrDefault("--package", LinkScan.KAFKA);
        String java = options.getOrDefault("--java", String.valueOf(running()));
        if (!java.matches("[1-9][0-9]?")) {
            throw new NotScanned("--java has value '" + java + "' (expected a release such as 17); correct it");
        }
        String prefix = name.endsWith(".") ? name : name + ".";
        Links links = LinkScan.of(options.get("--class-path"), prefix, Integer.parseInt(java), true);
        String format = options.getOrDefault("--format", "text");
        String report = format.equals("json") ? Report.json(links)
                : format.equals("sarif") ? Report.sarif(links)
                : Report.text(links, options.getOrDefault("--all", "").equals("true"));
        byte[] bytes = report.getBytes(StandardCharsets.UTF_8);
        out.write(bytes, 0, bytes.length);
        out.flush();
        boolean isFatal = links.findings.stream().anyMatch(finding -> !finding.isHandled);
        return isFatal ? FOUND : links.notScanned.isEmpty() ? 0 : NOT_KNOWN;
    }

    private static Map<String, String> options(String[] arguments) throws NotScanned {
        Map<String, String> options = new LinkedHashMap<>();
        for (int at = 0; at < arguments.length; at += 2) {
            String name = arguments[at];
            if (!name.matches("--(class-path|package|java|format|all)")) {
                throw new NotScanned("option " + name + " is not known; " + USAGE);
            }
            String value = at + 1 == arguments.length ? "" : arguments[at + 1];
            if (value.isEmpty() || (name.equals("--format") && !value.matches("text|json|sarif"))
                    || (name.equals("--all") && !value.matches("true|false"))) {
                throw new NotScanned("option " + name + " has value '" + value + "'; " + USAGE);
            }
            options.put(name, value);
        }
        if (!options.containsKey("--class-path")) {
            throw new NotScanned("the class path is not given; " + USAGE);
        }
        return options;
    }

    /** The feature release of the JVM that runs: 8, 17. */
    public static int running() {
        return Integer.parseInt(System.getProperty("java.specification.version").replaceFirst("^1\\.", ""));
    }
}
