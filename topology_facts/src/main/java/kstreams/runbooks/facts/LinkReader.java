package kstreams.runbooks.facts;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kstreams.runbooks.links.Finding;
import kstreams.runbooks.links.LinkScan;
import kstreams.runbooks.links.Links;
import kstreams.runbooks.links.NotScanned;

/**
 * The classes of the class path that refer to something of Kafka that is not there, and which of them the program needs.
 *
 * The program needs the class of each object that its topology has, those that its settings name, and what these make
 * of Kafka's kinds. An object is found through the fields of others; its static fields are not looked at.
 */
final class LinkReader {
    // What the library's own loggers lead to.
    private static final String LOGGING = "(org\\.slf4j|ch\\.qos\\.logback|org\\.apache\\.(logging|log4j))\\..*";
    private static final String OF_JDK = "(java|javax|jdk|sun|com\\.sun)\\..*";
    private static final int MOST_OBJECTS = 200_000;
    // Of a document, which a deployer's command may print with at most 4 MiB.
    private static final int MOST_CLASSES = 1_000;
    private static final int MOST_NOT_SCANNED = 20;
    private final Library library;
    private final Links links;
    private final Set<String> held = new LinkedHashSet<>();
    private final Set<String> elsewhere = new LinkedHashSet<>();
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> open = new ArrayDeque<>();

    private LinkReader(Library library, Links links) {
        this.library = library;
        this.links = links;
    }

    /** The list `links` of the document; without it a reason why it was not read. */
    static void read(Facts facts, Object topology, Map<?, ?> properties) {
        try {
            Library library = Library.of(topology);
            Links links = LinkScan.ofThisJvm(library.prefix());
            new LinkReader(library, links).readAll(facts, new Program(topology).builder, properties);
        } catch (NotScanned | NotRead reason) {
            facts.notRead("links", reason.getMessage());
        } catch (RuntimeException | LinkageError | StackOverflowError failure) {
            facts.notRead("links", "the reader failed with " + failure.getClass().getName()
                    + "; scan the class path with kstreams.runbooks.links.LinkCommand");
        }
    }

    private void readAll(Facts facts, Object builder, Map<?, ?> properties) throws NotRead {
        walk(builder);
        for (Object value : properties == null ? Collections.emptyList() : properties.values()) {
            for (String name : String.valueOf(value instanceof Class ? ((Class<?>) value).getName() : value)
                    .split("\\s*,\\s*")) {
                if (links.has(name) && library.inside(name).isEmpty()) {
                    held.add(name);
                }
            }
        }
        Map<String, String> needed = links.needed(held);
        List<Map<String, Object>> found = new ArrayList<>();
        Set<String> left = new LinkedHashSet<>();
        links.byClass().forEach((name, findings) -> {
            if (needed.containsKey(name) || found.size() < MOST_CLASSES) {
                found.add(entry(name, findings, needed.get(name)));
            } else {
                left.add(name);
            }
        });
        facts.replace("links", found);
        if (!left.isEmpty()) {
            facts.notRead("links", "others", left.size() + " more classes that the topology does not need do not link; "
                    + "list them with kstreams.runbooks.links.LinkCommand");
        }
        elsewhere.forEach(name -> facts.notRead("links", name, "class " + name
                + " is not on the class path of this JVM (java.class.path); put its jar there"));
        links.notScanned.entrySet().stream().limit(MOST_NOT_SCANNED).forEach(
                one -> facts.notRead("links", one.getKey(), one.getValue()));
    }

    private static Map<String, Object> entry(String name, List<Finding> findings, String neededBy) {
        Finding worst = Links.worst(findings);
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("class", name);
        entry.put("jar", worst.jar);
        entry.put("needed_by", neededBy);
        entry.put("handled", worst.isHandled);
        entry.put("references", findings.size());
        entry.put("sentence", worst.sentence());
        return entry;
    }

    private void walk(Object root) throws NotRead {
        push(root);
        while (!open.isEmpty()) {
            Object next = open.remove();
            Class<?> type = next.getClass();
            if (next instanceof Class) {
                hold((Class<?>) next);
            } else if (type.isArray()) {
                for (int at = 0; !type.getComponentType().isPrimitive() && at < Array.getLength(next); at++) {
                    push(Array.get(next, at));
                }
            } else if (next instanceof Map) {
                new ArrayList<>(((Map<?, ?>) next).entrySet()).forEach(entry -> {
                    push(entry.getKey());
                    push(entry.getValue());
                });
            } else if (next instanceof Collection) {
                new ArrayList<>((Collection<?>) next).forEach(this::push);
            }
            if (!(next instanceof Class) && !type.isArray() && !type.getName().matches(OF_JDK)) {
                hold(type);
                fields(next, type);
            }
            if (seen.size() > MOST_OBJECTS) {
                throw new NotRead("the topology has more than " + MOST_OBJECTS
                        + " objects; scan the class path with kstreams.runbooks.links.LinkCommand");
            }
        }
    }

    private void fields(Object of, Class<?> type) {
        for (Class<?> above = type; above != null && !above.getName().matches(OF_JDK); above = above.getSuperclass()) {
            for (Field field : above.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                    try {
                        field.setAccessible(true);
                        push(field.get(of));
                    } catch (IllegalAccessException | RuntimeException refused) {
                        continue; // a module that opens nothing is not the program's
                    }
                }
            }
        }
    }

    private void push(Object next) {
        if (next != null && !(next instanceof String) && !(next instanceof Number)
                && !next.getClass().getName().matches(LOGGING) && seen.add(next)) {
            open.add(next);
        }
    }

    /** The class, or the first above it that the class path has: a proxy and a lambda have none of their own. */
    private void hold(Class<?> type) {
        String name = Library.withoutLambda(type.getName());
        if (type.isPrimitive() || type.isArray() || name.matches(OF_JDK) || !library.inside(name).isEmpty()
                || Proxy.isProxyClass(type)) {
            return;
        }
        if (links.has(name)) {
            held.add(name);
        } else if (type.getSuperclass() != null && !type.getSuperclass().getName().matches(OF_JDK)) {
            hold(type.getSuperclass());
        } else {
            elsewhere.add(name);
        }
    }
}
