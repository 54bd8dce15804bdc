package kstreams.runbooks.facts;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The settings that a program gives, as the library parses them.
 *
 * A setting that no release knows is the program's own, and its value may be a secret of an interceptor or of a serde: a
 * digest of 16 bits shows that it changed, and too many values have each digest to find one. If the name is one of a
 * secret, not even that is shown.
 */
final class Settings {
    private static final String[] DEFINED_IN = {
        "streams.StreamsConfig",
        "clients.consumer.ConsumerConfig",
        "clients.producer.ProducerConfig",
        "clients.admin.AdminClientConfig",
    };
    private static final String[] PREFIXES = {
        "main.consumer.", "restore.consumer.", "global.consumer.", "consumer.", "producer.", "admin.", "",
    };
    private static final String CLASS_NAME = "\\p{Alpha}[\\w$]*(\\.[\\w$]+)*";
    private static final Pattern SECRET = Pattern.compile("(?i)passw|passphrase|pwd|secret|credential|token|jaas"
            + "|ssl\\.key|private[.-]?key|api[.-]?key|user\\.info");
    private final Library library;
    private final boolean areGiven;
    private final Map<String, Object> given = new TreeMap<>();

    /** {@code properties} may be null: then no setting is known. */
    Settings(Library library, Map<?, ?> properties) {
        this.library = library;
        this.areGiven = properties != null;
        if (properties != null) {
            properties.forEach((name, value) -> given.put(String.valueOf(name), value));
        }
    }

    /** All that are given, as text, the program's own by a digest; passwords and secrets are facts that were not read. */
    void read(Facts facts) {
        Facts config = facts.at("config");
        given.forEach((name, value) -> config.read(name, () -> isOwn(name, value) ? digest(value) : text(name, value)));
    }

    /** Whether no release knows a setting, and a digest of its value is a fact. */
    private boolean isOwn(String name, Object value) {
        boolean isValue = value instanceof String || value instanceof Number || value instanceof Boolean;
        if (!isValue || SECRET.matcher(name).find() || isShownAsGiven(name)) {
            return false;
        }
        try {
            definition(name);
            return false;
        } catch (NotRead unknown) {
            return true;
        }
    }

    private static String digest(Object value) throws NoSuchAlgorithmException {
        byte[] bytes = MessageDigest.getInstance("SHA-256").digest(String.valueOf(value).getBytes(StandardCharsets.UTF_8));
        return String.format("(digest %02x%02x)", bytes[0], bytes[1]);
    }

    /** The settings as they were given. */
    Map<String, Object> given() {
        return given;
    }

    /** Whether a fact shows the value of a setting: not that of a password, or of a name that no release knows. */
    boolean shows(String name) {
        try {
            text(name, given.get(name));
            return true;
        } catch (NotRead hidden) {
            return false;
        }
    }

    /** Whether the settings are known. */
    boolean areGiven() {
        return areGiven;
    }

    /** A setting, parsed; null if it is not given. */
    Object parsed(String name) throws NotRead {
        Object value = given.get(name);
        return value == null ? null : parsed(definition(name), name, value);
    }

    private String text(String name, Object value) throws NotRead {
        if (isShownAsGiven(name)) {
            return String.valueOf(value);
        }
        Object definition = definition(name);
        Object type = type(definition, bare(definition, name));
        if (type.toString().equals("PASSWORD")) {
            throw new NotRead("setting " + name + " is a password, which no fact shows");
        }
        if (type.toString().equals("CLASS") && String.valueOf(value).matches(CLASS_NAME)) {
            return (String) value; // the class may be on the class path of the deployment alone
        }
        Object parsed = parsed(definition, name, value);
        try {
            Method write = definition.getClass().getMethod("convertToString", Object.class, type.getClass());
            return (String) write.invoke(null, parsed, type);
        } catch (ReflectiveOperationException other) {
            return String.valueOf(parsed);
        }
    }

    private static Object parsed(Object definition, String name, Object value) throws NotRead {
        Object type = type(definition, bare(definition, name));
        try {
            Method parse = definition.getClass().getMethod("parseType", String.class, Object.class, type.getClass());
            return parse.invoke(null, name, value, type);
        } catch (ReflectiveOperationException refused) {
            throw new NotRead("setting " + name + " has a value that is not a " + type + "; correct it");
        }
    }

    /** The ConfigDef of Kafka that has a setting, with or without the prefix of a client. */
    private Object definition(String name) throws NotRead {
        for (String type : DEFINED_IN) {
            try {
                Object definition = library.type(type).getMethod("configDef").invoke(null);
                if (bare(definition, name) != null) {
                    return definition;
                }
            } catch (ReflectiveOperationException | LinkageError absent) {
                continue; // the others may have it
            }
        }
        throw new NotRead("setting " + name + " is not one of Kafka's in this release, and its value may be a secret; "
                + "declare it if it matters");
    }

    private static String bare(Object definition, String name) throws NotRead {
        Map<?, ?> keys = (Map<?, ?>) Peek.call(definition, "configKeys");
        for (String prefix : PREFIXES) {
            if (name.startsWith(prefix) && keys.containsKey(name.substring(prefix.length()))) {
                return name.substring(prefix.length());
            }
        }
        return null;
    }

    /** Whether Kafka has a setting of that name in no table: of an internal topic, of the library itself, a tag. */
    private boolean isShownAsGiven(String name) {
        boolean isTag = name.startsWith("client.tag.") && !SECRET.matcher(name).find();
        return isTag || isOfTopics(name) || name.startsWith("__internal.");
    }

    /** Whether internal topics may have a setting: those have no types, and none of them is a secret. */
    private boolean isOfTopics(String setting) {
        if (!setting.startsWith("topic.")) {
            return false;
        }
        String name = setting.substring("topic.".length());
        try {
            for (Field constant : library.type("common.config.TopicConfig").getFields()) {
                if (name.equals(constant.get(null)) && constant.getName().endsWith("_CONFIG")) {
                    return true;
                }
            }
        } catch (ReflectiveOperationException | LinkageError absent) {
            return false;
        }
        return false;
    }

    private static Object type(Object definition, String bare) throws NotRead {
        return Peek.field(((Map<?, ?>) Peek.call(definition, "configKeys")).get(bare), "type");
    }
}
