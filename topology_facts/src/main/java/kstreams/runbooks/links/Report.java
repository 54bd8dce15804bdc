package kstreams.runbooks.links;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The findings as text for people, as JSON, and as SARIF 2.1.0. */
final class Report {
    private static final int SCHEMA = 1;
    private static final Map<String, String> KINDS = new TreeMap<>();

    static {
        KINDS.put("class", "The class is absent.");
        KINDS.put("method", "The class has no method of this name with these parameters and this result.");
        KINDS.put("field", "The class has no field of this name and type.");
        KINDS.put("access", "The class or member is not accessible.");
        KINDS.put("static", "A member that was static is not, or the reverse.");
        KINDS.put("kind", "A class is an interface now, or the reverse.");
        KINDS.put("final", "A final class or method is overridden, or a final field written.");
        KINDS.put("abstract", "An object is made of an abstract class, or an abstract method is called.");
        KINDS.put("not-implemented", "A class does not implement an abstract method.");
    }

    private Report() {}

    /** One line a class, worst first: its first reference, and the number of the others. */
    static String text(Links links, boolean isAll) {
        List<String> fatal = new ArrayList<>();
        List<String> handled = new ArrayList<>();
        for (List<Finding> of : links.byClass().values()) {
            List<Finding> worst = isAll ? of : Collections.singletonList(Links.worst(of));
            for (Finding finding : worst) {
                String more = isAll || of.size() == 1 ? "" : " (and " + (of.size() - 1) + " more references)";
                (finding.isHandled ? handled : fatal).add(finding.sentence() + more + "\n");
            }
        }
        StringBuilder text = new StringBuilder();
        fatal.forEach(text::append);
        handled.forEach(text::append);
        links.notScanned.values().forEach(reason -> text.append("NOT SCANNED: ").append(reason).append('\n'));
        return text + summary(links);
    }

    private static String summary(Links links) {
        long handled = links.findings.stream().filter(finding -> finding.isHandled).count();
        return links.target + ": " + (links.findings.size() - handled) + " references of " + links.byClass().size()
                + " classes do not link, " + handled + " more are handled; scanned " + links.classes + " classes of "
                + links.jars + " jars and directories, not scanned " + links.notScanned.size() + "\n";
    }

    static String json(Links links) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema_version", SCHEMA);
        document.put("target", links.target);
        document.put("jars", links.jars);
        document.put("classes", links.classes);
        List<Object> findings = new ArrayList<>();
        for (Finding finding : links.findings) {
            findings.add(map("class", finding.from, "jar", finding.jar, "method", finding.inMethod, "use",
                    finding.use(), "to", finding.to, "kind", finding.kind, "error", finding.error, "handled",
                    finding.isHandled, "sentence", finding.sentence()));
        }
        document.put("findings", findings);
        List<Object> unread = new ArrayList<>();
        links.notScanned.forEach((type, reason) -> unread.add(map("class", type, "reason", reason)));
        document.put("not_scanned", unread);
        return Json.of(document) + "\n";
    }

    static String sarif(Links links) {
        List<Object> rules = new ArrayList<>();
        KINDS.forEach((kind, text) -> rules.add(map("id", kind, "shortDescription", map("text", text))));
        List<Object> results = new ArrayList<>();
        for (Finding finding : links.findings) {
            String place = finding.from + (finding.inMethod.isEmpty() ? "" : "." + finding.inMethod);
            results.add(map("ruleId", finding.kind, "level", finding.isHandled ? "note" : "error", "message",
                    map("text", finding.sentence()), "locations", Arrays.asList(map("physicalLocation",
                            map("artifactLocation", map("uri", finding.jar)), "logicalLocations",
                            Arrays.asList(map("fullyQualifiedName", place))))));
        }
        List<Object> unread = new ArrayList<>();
        links.notScanned.values().forEach(reason -> unread.add(map("level", "error", "message", map("text", reason))));
        Object driver = map("name", "topology-facts links", "rules", rules);
        Object run = map("tool", map("driver", driver), "invocations", Arrays.asList(map("executionSuccessful",
                unread.isEmpty(), "toolExecutionNotifications", unread)), "results", results);
        return Json.of(map("$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                Arrays.asList(run))) + "\n";
    }

    private static Map<String, Object> map(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int at = 0; at < pairs.length; at += 2) {
            map.put((String) pairs[at], pairs[at + 1]);
        }
        return map;
    }
}
