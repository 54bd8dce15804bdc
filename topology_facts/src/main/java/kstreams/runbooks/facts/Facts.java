package kstreams.runbooks.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The facts of one subject. A fact that is present was read; every other one is in the list of those not read. */
final class Facts {
    /** Reads one fact; null is a value: the program sets none. */
    interface Reading {
        Object read() throws Exception;
    }

    private final Map<String, Object> values;
    private final List<String> path;
    private final Collection<Map<String, Object>> notRead;

    private Facts(Map<String, Object> values, List<String> path, Collection<Map<String, Object>> notRead) {
        this.values = values;
        this.path = path;
        this.notRead = notRead;
    }

    /** No fact yet. */
    static Facts none() {
        return new Facts(new LinkedHashMap<>(), new ArrayList<>(), new ArrayList<>());
    }

    /** The facts of a subject inside this one, in the order of their names. */
    Facts at(String subject) {
        @SuppressWarnings("unchecked")
        Map<String, Object> inner = (Map<String, Object>) values.computeIfAbsent(subject, name -> new TreeMap<>());
        return new Facts(inner, pathOf(subject), notRead);
    }

    /** Reads a fact. Any error is a fact that was not read: an application may not depend on the reader. */
    void read(String name, Reading reading) {
        try {
            values.put(name, reading.read());
        } catch (NotRead reason) {
            notRead(name, reason.getMessage());
        } catch (Exception | LinkageError | StackOverflowError failure) {
            notRead(name, "the reader failed with " + failure.getClass().getName() + "; declare the fact manually");
        }
    }

    /** A list in place of the facts of a subject. */
    void replace(String name, Collection<Map<String, Object>> list) {
        values.put(name, list);
    }

    /** A fact that was not read, with the reason. */
    void notRead(String name, String reason) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("fact", pathOf(name));
        entry.put("reason", reason);
        notRead.add(entry);
    }

    /** A part of a list that was not read, with the reason. */
    void notRead(String list, String part, String reason) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("fact", Arrays.asList(list, part));
        entry.put("reason", reason);
        notRead.add(entry);
    }

    /** The number of facts that were not read. */
    int unread() {
        return notRead.size();
    }

    /** All of it as YAML. */
    String yaml() {
        Map<String, Object> whole = new LinkedHashMap<>(values);
        whole.put("not_read", notRead);
        return Yaml.of(whole);
    }

    /** The place of a fact of this subject: stores.orders.key_serde. */
    String where(String name) {
        return String.join(".", pathOf(name));
    }

    private List<String> pathOf(String name) {
        List<String> longer = new ArrayList<>(path);
        longer.addAll(Arrays.asList(name));
        return longer;
    }
}
