package kstreams.runbooks.links;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a scan found. */
public final class Links {
    /** What was looked for, such as "Kafka 4.4.0". */
    public final String target;
    public final int jars;
    public final int classes;
    public final List<Finding> findings;
    /** Why each class that was not scanned was not, by its name. */
    public final Map<String, String> notScanned;
    private final Map<String, List<String>> supers;
    private final Map<String, Set<String>> makes;
    private final Set<String> places;

    Links(String target, int jars, int classes, List<Finding> findings, Map<String, String> notScanned,
            Map<String, List<String>> supers, Map<String, Set<String>> makes, Set<String> places) {
        this.target = target;
        this.jars = jars;
        this.classes = classes;
        this.findings = findings;
        this.notScanned = notScanned;
        this.supers = supers;
        this.makes = makes;
        this.places = places;
    }

    /** Whether the class path has a class. */
    public boolean has(String name) {
        return places.contains(name.replace('.', '/'));
    }

    /**
     * The classes that a program needs if it has objects of these: they, their supertypes, and what they make of the
     * target's kinds, such as the processor of a supplier. The value is the class of `roots` behind each.
     */
    public Map<String, String> needed(Collection<String> roots) {
        Map<String, String> needed = new LinkedHashMap<>();
        Deque<String> open = new ArrayDeque<>();
        for (String root : roots) {
            needed.put(root, root);
            open.add(root);
        }
        while (!open.isEmpty()) {
            String name = open.remove();
            for (Collection<String> next : Arrays.asList(supers.get(name), makes.get(name))) {
                for (String other : next == null ? Collections.<String>emptyList() : next) {
                    if (needed.putIfAbsent(other, needed.get(name)) == null) {
                        open.add(other);
                    }
                }
            }
        }
        return needed;
    }

    /** The findings by class, in the order of the classes. */
    public Map<String, List<Finding>> byClass() {
        Map<String, List<Finding>> byClass = new LinkedHashMap<>();
        for (Finding finding : findings) {
            byClass.computeIfAbsent(finding.from, its -> new ArrayList<>()).add(finding);
        }
        return byClass;
    }

    /** Of one class: a reference that no handler takes, before one of a class that is loaded anyway. */
    public static Finding worst(Collection<Finding> of) {
        return of.stream().min((one, other) -> one.isHandled != other.isHandled
                ? Boolean.compare(one.isHandled, other.isHandled)
                : one.use.when.compareTo(other.use.when)).get();
    }
}
