package kstreams.runbooks.facts;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import kstreams.runbooks.code.CodeDigest;
import kstreams.runbooks.code.NotProvable;

/** Writes the part `code` of the document: a digest at each fact, or the reason why there is none. */
final class CodePart {
    private final CodeDigest digests;
    /** Facts with the same objects have the same digest. */
    private final Map<List<Identity>, String> known = new HashMap<>();
    private final Map<String, String> found = new TreeMap<>();
    /** The fact with the same objects that was read first. */
    private final Map<String, String> first = new HashMap<>();

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

    void read(Facts document, Map<String, List<Object>> subjects) {
        Map<String, String> unproven = new TreeMap<>();
        subjects.forEach((where, objects) -> {
            try {
                found.put(where, digest(where, objects, where.endsWith("_serde")));
            } catch (NotProvable reason) {
                unproven.put(where, reason.getMessage());
            } catch (RuntimeException | LinkageError failure) {
                unproven.put(where, "the reader failed with " + failure.getClass().getName());
            }
        });
        Map<String, String> shared = digests.shared();
        first.forEach((where, one) -> {
            if (shared.containsKey(one)) {
                found.remove(where);
                unproven.put(where, shared.get(one));
            }
        });
        Facts code = document.at("code");
        code.read("facts", () -> found);
        code.read("not_provable", () -> unproven);
        code.read("digests", () -> digests.digests(found.values()));
        code.read("methods", digests::methods);
        code.read("libraries", digests::libraries);
        code.read("java", digests::versions);
    }

    private String digest(String where, List<Object> objects, boolean isFormat) throws NotProvable {
        List<Identity> key = new ArrayList<>();
        key.add(new Identity(isFormat));
        objects.forEach(object -> key.add(new Identity(object)));
        String same = known.get(key);
        if (same == null) {
            String digest = digests.of(where, objects, isFormat);
            known.put(key, where);
            first.put(where, where);
            return digest;
        }
        first.put(where, same);
        return found.get(same);
    }
}
