package kstreams.runbooks.links;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The package that references are looked for in, and what the class path has of it. */
final class Target {
    private static final int MOST = 3;
    /** The package with slashes, and one at its end. */
    final String prefix;
    /** What has it, in sentences: "Kafka 4.4.0". */
    final String name;
    private final Map<String, List<String>> bySimpleName = new HashMap<>();
    private final Set<String> packages = new HashSet<>();

    Target(String prefix, String name, Iterable<String> classes) {
        this.prefix = prefix;
        this.name = name;
        for (String type : classes) {
            if (has(type)) {
                String simple = type.substring(type.lastIndexOf('/') + 1);
                bySimpleName.computeIfAbsent(simple, its -> new ArrayList<>()).add(type);
                packages.add(Shape.packageOf(type));
            }
        }
    }

    /** Whether the target has any class. */
    boolean isEmpty() {
        return packages.isEmpty();
    }

    /** Whether a class is of the package. */
    boolean has(String type) {
        return type.startsWith(prefix);
    }

    /** The clause for a class that is absent. One of a package without any class is of a jar that is absent. */
    String lacks(String type) {
        if (!packages.contains(Shape.packageOf(type))) {
            return "which is in no jar of the class path (" + name + " is there without its package "
                    + Names.plain(Shape.packageOf(type)) + ")";
        }
        List<String> others = bySimpleName.get(type.substring(type.lastIndexOf('/') + 1));
        String moved = others != null && others.size() == 1 ? " (it has " + Names.plain(others.get(0)) + ")" : "";
        return "which " + name + " does not have" + moved;
    }

    /** The clause for a member that is absent, with those of the same name. */
    String lacks(Resolver.Lacking member) {
        String who = has(member.owner) ? name : "neither that class nor " + name;
        List<String> others = new ArrayList<>(member.others);
        String some = others.isEmpty() ? "" : " (it has " + String.join("; ", others.subList(0, Math.min(MOST,
                others.size()))) + (others.size() > MOST ? "; and others" : "") + ")";
        return "which " + who + (has(member.owner) ? " does not have" : " has") + some;
    }
}
