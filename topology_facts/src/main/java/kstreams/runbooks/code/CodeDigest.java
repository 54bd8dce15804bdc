package kstreams.runbooks.code;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Digests of the code behind objects of one program. */
public final class CodeDigest {
    /** Between the name of a class and that of its method. */
    static final char IN = '\t';
    private final Border border;
    private final ClassLoader loader;
    /** What the program has changed of its JVM. */
    private final List<String> given;
    /** Of each digest, and the facts that had it first. Two parts with one digest may keep other objects. */
    private final Map<String, List<Footprint>> footprints = new TreeMap<>();
    private final Map<Footprint, String> facts = new HashMap<>();
    private final Map<String, Collection<String>> methods = new TreeMap<>();
    private final Map<String, Collection<String>> libraries = new TreeMap<>();
    private final Set<Integer> versions = new TreeSet<>();

    /** {@code loader} is that of the program's classes. */
    public CodeDigest(Border border, ClassLoader loader, JvmDefaults defaults) {
        this.border = border;
        this.loader = loader;
        this.given = defaults.changed();
    }

    /**
     * The digest of some objects together; NotProvable with the reason. {@code isFormat}: they write and read records,
     * whose class decides the format too. {@code where} is the fact.
     */
    public String of(String where, Collection<Object> objects, boolean isFormat) throws NotProvable {
        Closure closure = new Closure(border, loader);
        given.forEach(closure::write);
        try {
            for (Object object : objects) {
                closure.add(object);
            }
            if (isFormat && closure.hidesRecords()) {
                throw new NotProvable("a library writes the records, and no object shows their class");
            }
            Set<String> used = new TreeSet<>();
            for (Border.Library library : closure.libraries().values()) {
                used.add(library.name + " " + library.version + " " + library.digest);
            }
            String digest = closure.digest();
            footprints.computeIfAbsent(digest, any -> new ArrayList<>()).add(closure.footprint());
            facts.put(closure.footprint(), where);
            methods.put(digest, closure.methods());
            libraries.put(digest, used);
            versions.addAll(closure.versions());
            return digest;
        } catch (StackOverflowError deep) {
            throw new NotProvable("its objects are nested too deep");
        }
    }

    /** Why digests are not provable after all: other code may change an object that they share. */
    public Map<String, String> shared() {
        Map<String, String> found = new TreeMap<>();
        facts.forEach((writer, where) -> {
            List<Object> changeable = writer.changeable();
            footprints.forEach((digest, all) -> {
                for (Footprint footprint : changeable.isEmpty() ? Collections.<Footprint>emptyList() : all) {
                    Object object = footprint == writer ? null : footprint.changedBy(writer, changeable);
                    if (object != null) {
                        String reason = "the code behind " + where + " may change an object of class "
                                + object.getClass().getName() + " that both have";
                        found.merge(digest, reason, (one, other) -> one.compareTo(other) < 0 ? one : other);
                    }
                }
            });
        });
        return found;
    }

    /**
     * Behind each digest: its methods and its libraries, by their places in the lists of all, as 0-3 7. Digests that have
     * the same are together.
     */
    public Map<String, Object> digests(Collection<String> used) {
        methods.keySet().retainAll(used);
        libraries.keySet().retainAll(used);
        Map<Map<String, Object>, String> alike = new LinkedHashMap<>();
        List<String> ofMethods = all(methods);
        List<String> ofLibraries = all(libraries);
        methods.forEach((digest, names) -> {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("methods", ranges(names, ofMethods));
            if (!libraries.get(digest).isEmpty()) {
                entry.put("libraries", ranges(libraries.get(digest), ofLibraries));
            }
            alike.merge(entry, digest, (one, more) -> one + " " + more);
        });
        Map<String, Object> found = new LinkedHashMap<>();
        alike.forEach((entry, digests) -> found.put(digests, entry));
        return found;
    }

    /** The methods of each class, each with a digest of its own, in the order of their places. */
    public Map<String, Object> methods() {
        Map<String, Object> found = new LinkedHashMap<>();
        for (String name : all(methods)) {
            int in = name.indexOf(IN);
            found.merge(name.substring(0, in), name.substring(in + 1), (one, more) -> one + ", " + more);
        }
        return found;
    }

    /** Name, version and digest of each library, in the order of their places. */
    public List<String> libraries() {
        return all(libraries);
    }

    /** The releases of class files, such as 61 for Java 17. */
    public Collection<Integer> versions() {
        return versions;
    }

    private static List<String> all(Map<String, Collection<String>> parts) {
        Set<String> found = new TreeSet<>();
        parts.values().forEach(found::addAll);
        return new ArrayList<>(found);
    }

    private static String ranges(Collection<String> names, List<String> all) {
        Map<String, Integer> numbers = new HashMap<>();
        all.forEach(name -> numbers.put(name, numbers.size()));
        StringBuilder found = new StringBuilder();
        int last = -2;
        int from = -2;
        for (String name : new TreeSet<>(names)) {
            int place = numbers.get(name);
            if (place != last + 1) {
                found.append(last > from ? "-" + last : "").append(found.length() == 0 ? "" : " ").append(place);
                from = place;
            }
            last = place;
        }
        return found.append(last > from ? "-" + last : "").toString();
    }
}
