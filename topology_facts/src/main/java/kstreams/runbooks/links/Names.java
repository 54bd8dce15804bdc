package kstreams.runbooks.links;

import java.util.StringJoiner;
import org.objectweb.asm.Type;

/** Names of classes and members as people write them. */
final class Names {
    private Names() {}

    /** The binary name: org.apache.kafka.common.utils.Utils. */
    static String plain(String internal) {
        return internal.replace('/', '.');
    }

    /** A method by its owner and its name with the descriptor, or a field by its name, a space and its descriptor. */
    static String member(String owner, String key) {
        int paren = key.indexOf('(');
        if (paren < 0) {
            return plain(owner) + '.' + key.substring(0, key.indexOf(' '));
        }
        String name = key.startsWith("<init>") ? "" : '.' + key.substring(0, paren);
        return plain(owner) + name + signature(key);
    }

    /** The types of the parameters, without their packages. */
    static String signature(String key) {
        StringJoiner types = new StringJoiner(", ", "(", ")");
        for (Type type : Type.getArgumentTypes(key.substring(key.indexOf('(')))) {
            types.add(simple(type.getClassName()));
        }
        return types.toString();
    }

    /** A class without its package. */
    static String simple(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** The name of the class inside an array type or a descriptor; the name itself without one; null for a primitive. */
    static String element(String type) {
        if (!type.startsWith("[")) {
            return type;
        }
        String inner = type.substring(type.lastIndexOf('[') + 1);
        return inner.startsWith("L") ? inner.substring(1, inner.length() - 1) : null;
    }
}
