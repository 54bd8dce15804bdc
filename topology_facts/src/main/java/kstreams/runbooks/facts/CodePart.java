package kstreams.runbooks.facts;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kstreams.runbooks.code.CodeDigest;
import kstreams.runbooks.code.NotProvable;

/** Writes the part `code` of the document: a digest at each fact, or the reason why there is none. */
final class CodePart {
    // Of the digests: another number for any change of their text, so that nobody compares across it.
    private static final int RULES = 3;
    private final CodeDigest digests;
    /** Parts with the same objects have the same digest. */
    private final Map<List<Identity>, String> known = new HashMap<>();

    /** An object as itself, whatever it says of another. */
    private static final class Identity {
        private final Object object;

        Identity(Object object) {
            this.object = object;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Identity && ((Identity) other).object == object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }
    }

    CodePart(CodeDigest digests) {
        this.digests = digests;
    }

    /** Each fact has the objects of one part of the program, or of several in their order, such as operators. */
    void read(Facts document, Map<String, List<List<Object>>> subjects) {
        Map<String, List<String>> found = new TreeMap<>();
        Map<String, String> unproven = new TreeMap<>();
        subjects.forEach((where, parts) -> {
            try {
                List<String> of = new ArrayList<>();
                for (List<Object> objects : parts) {
                    of.add(digest(where, objects, where.endsWith("_serde")));
                }
                found.put(where, of);
            } catch (NotProvable reason) {
                unproven.put(where, reason.getMessage());
            } catch (RuntimeException | LinkageError failure) {
                unproven.put(where, "the reader failed with " + failure.getClass().getName());
            }
        });
        Map<String, String> shared = digests.shared();
        found.forEach((where, of) -> of.stream().filter(shared::containsKey).findFirst().ifPresent(
                one -> unproven.put(where, shared.get(one))));
        found.keySet().removeAll(unproven.keySet());
        Map<String, String> facts = new TreeMap<>();
        Set<String> used = new TreeSet<>();
        found.forEach((where, of) -> {
            facts.put(where, String.join(" ", of));
            used.addAll(of);
        });
        Facts code = document.at("code");
        code.read("facts", () -> facts);
        code.read("not_provable", () -> unproven);
        code.read("digests", () -> digests.digests(used));
        code.read("methods", digests::methods);
        code.read("libraries", digests::libraries);
        code.read("java", digests::versions);
        code.read("jvm", () -> release(System.getProperty("java.specification.version")));
        code.read("rules", () -> RULES);
    }

    /** 8 of 1.8, 17 of 17. */
    private static int release(String specification) {
        return Integer.parseInt(specification.replaceFirst("^1\\.", ""));
    }

    private String digest(String where, List<Object> objects, boolean isFormat) throws NotProvable {
        List<Identity> key = new ArrayList<>();
        key.add(new Identity(isFormat));
        objects.forEach(object -> key.add(new Identity(object)));
        String digest = known.get(key);
        if (digest == null) {
            digest = digests.of(where, objects, isFormat);
            known.put(key, digest);
        }
        return digest;
    }
}
