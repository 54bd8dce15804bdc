package kstreams.runbooks.facts;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;

/** Names the format of serdes, serializers and deserializers. */
final class SerdeReader {
    /** A name, and whether all of its classes are Kafka's. */
    private static final class Format {
        final String name;
        final boolean isOfKafka;

        Format(String name, boolean isOfKafka) {
            this.name = name;
            this.isOfKafka = isOfKafka;
        }
    }

    private static final int DEPTH = 4;
    private final Library library;
    private final Settings settings;
    /** The objects behind each format, by its place. */
    final Map<String, List<Object>> objects = new TreeMap<>();
    /** The settings on which the serde that is being read depends, because the program gives none. */
    private final Set<String> defaults = new TreeSet<>();

    SerdeReader(Library library, Settings settings) {
        this.library = library;
        this.settings = settings;
    }

    /** The facts of the serde of keys; null is the default of the settings. */
    void key(Facts of, Facts.Reading serde) {
        read(of, "key_serde", serde, "default.key.serde");
    }

    /** The facts of the serde of values. */
    void value(Facts of, Facts.Reading serde) {
        read(of, "value_serde", serde, "default.value.serde");
    }

    /** The facts of the keys of a topic, from each of its readers and writers; not read if two of them differ. */
    void keys(Facts of, Collection<Object> formats) {
        objects.put(of.where("key_serde"), new ArrayList<>(formats));
        of.read("key_serde", () -> entry("key_serde", of, same(formats, "default.key.serde")));
    }

    /** The facts of the values of a topic. */
    void values(Facts of, Collection<Object> formats) {
        objects.put(of.where("value_serde"), new ArrayList<>(formats));
        of.read("value_serde", () -> entry("value_serde", of, same(formats, "default.value.serde")));
    }

    private Format same(Collection<Object> formats, String setting) throws NotRead {
        Map<String, Format> named = new TreeMap<>();
        for (Object format : formats) {
            Format one = given(format, setting);
            named.put(one.name, one);
        }
        if (named.size() != 1) {
            throw new NotRead("the operators that read and write the topic have several formats ("
                    + String.join(", ", named.keySet()) + "); read those of the operators, or declare the serde");
        }
        return named.values().iterator().next();
    }

    /** A serde of the settings, by the name of the setting; null if it is not set. */
    void setting(Facts of, String name, String setting) {
        of.read(name, () -> entry(name, of, ofSetting(setting)));
    }

    /** The format, and the settings that have to give its serde: from 3.0 on the library has no default (KIP-741). */
    private void read(Facts of, String name, Facts.Reading serde, String setting) {
        defaults.clear();
        of.read(name, () -> {
            Object found = serde.read();
            objects.put(of.where(name), Collections.singletonList(found));
            return entry(name, of, given(found, setting));
        });
        if (!defaults.isEmpty()) {
            of.read(name + "_of_settings", () -> new ArrayList<>(defaults));
        }
    }

    /** A format of Kafka's own has no version of a schema; whether another one has is not known to code. */
    private static Map<String, Object> entry(String name, Facts of, Format format) {
        if (format == null) {
            return null;
        }
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("name", format.name);
        if (format.isOfKafka) {
            entry.put("schema_version", null);
        } else {
            of.notRead(name + ".schema_version", "class " + format.name
                    + " does not show the version of the schema that it writes; declare it");
        }
        return entry;
    }

    private Format given(Object serde, String setting) throws NotRead {
        if (serde != null) {
            return format(serde, setting, 0);
        }
        defaults.add(setting);
        return ofDefault(setting);
    }

    private Format ofDefault(String setting) throws NotRead {
        Format format = ofSetting(setting);
        if (format == null) {
            throw new NotRead("the program gives no serde here and the settings that were read have no " + setting
                    + "; give the settings, or declare the serde");
        }
        return format;
    }

    private Format ofSetting(String setting) throws NotRead {
        Object given = settings.parsed(setting);
        if (given == null) {
            return null;
        }
        String type = given instanceof Class ? ((Class<?>) given).getName() : given.toString();
        String plain = plain(library.inside(type));
        return plain == null ? new Format(withoutDirection(type), false) : new Format(plain, true);
    }

    private Format format(Object serde, String setting, int depth) throws NotRead {
        String known = library.known(serde);
        String plain = plain(known);
        if (plain != null) {
            return new Format(plain, true);
        }
        if (Library.isLambda(serde)) {
            throw new NotRead("the format is a lambda of " + Library.lastingName(serde)
                    + ", which has another name in each run; declare the serde");
        }
        if (depth == DEPTH) {
            throw new NotRead("class " + Peek.nameOf(serde) + " is inside more than " + DEPTH
                    + " others; declare the serde");
        }
        switch (known) {
            case "common.serialization.Serdes$WrapperSerde":
                Format writes = format(Peek.field(serde, "serializer"), setting, depth + 1);
                Format reads = format(Peek.field(serde, "deserializer"), setting, depth + 1);
                return writes.name.equals(reads.name)
                        ? writes
                        : new Format(writes.name + "/" + reads.name, writes.isOfKafka && reads.isOfKafka);
            case "streams.state.internals.ValueAndTimestampSerde":
                // The library wraps the serde of the program, also one that is not given.
                Object writer = Peek.field(serde, Peek.has(serde, "serializer")
                        ? "serializer"
                        : "valueAndTimestampSerializer");
                Object inner = Peek.field(writer, "valueSerializer");
                return inner == null ? given(null, setting) : format(inner, setting, depth + 1);
            default:
                return withState(serde, known, setting, depth);
        }
    }

    /** string for a StringSerde, a StringSerializer and a StringDeserializer; null for a class with a state. */
    private static String plain(String known) {
        if (!known.startsWith("common.serialization.")) {
            return null;
        }
        String type = known.substring("common.serialization.".length())
                .replaceFirst("^Serdes\\$", "")
                .replaceFirst("(Serde|Serializer|Deserializer)$", "");
        switch (type) {
            case "String":
            case "Short":
            case "Integer":
            case "Long":
            case "Float":
            case "Double":
            case "Bytes":
            case "UUID":
            case "Void":
            case "Boolean":
                return type.toLowerCase(Locale.ROOT);
            case "ByteArray":
                return "byte_array";
            case "ByteBuffer":
                return "byte_buffer";
            default:
                return null;
        }
    }

    /**
     * The class with the state in which two of its objects may differ: classes, flags, numbers, and the formats inside
     * it. Text is left out, because it may be a secret.
     */
    private Format withState(Object serde, String known, String setting, int depth) throws NotRead {
        Map<String, String> parts = new TreeMap<>();
        boolean isOfKafka = !known.isEmpty();
        for (Class<?> type = serde.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())) {
                    continue;
                }
                Object value = Peek.field(serde, field.getName());
                if (isFormat(field.getType()) || (value != null && isFormat(value.getClass()))) {
                    Format inner = value == null
                            ? absent(field.getName(), known, setting)
                            : format(value, setting, depth + 1);
                    parts.put(withoutDirection(field.getName()), inner.name);
                    isOfKafka &= inner.isOfKafka;
                } else if (value instanceof Class) {
                    parts.put(field.getName(), ((Class<?>) value).getName());
                } else if (value instanceof Number || value instanceof Enum || Boolean.TRUE.equals(value)) {
                    parts.put(field.getName(), value.toString());
                }
            }
        }
        StringJoiner state = new StringJoiner(", ", "(", ")").setEmptyValue("");
        parts.forEach((field, value) -> state.add(field + "=" + value));
        String name = withoutDirection(known.isEmpty() ? serde.getClass().getName() : known.replaceFirst(".*[.$]", ""));
        return new Format(name + state, isOfKafka);
    }

    /** A class of Kafka without an inner format gets the default when it starts; one of the program has none. */
    private Format absent(String field, String known, String setting) throws NotRead {
        if (known.isEmpty()) {
            return new Format("null", true);
        }
        String given = field.toLowerCase(Locale.ROOT).contains("key") ? "default.key.serde" : setting;
        // A windowed serde has a setting of its own for the serde inside it.
        return known.contains(".internals.") ? given(null, given) : ofDefault(given);
    }

    /** One name for a serializer and the deserializer that reads what it writes. */
    private static String withoutDirection(String name) {
        if (name.matches("(?i)serializer|deserializer|serde")) {
            return "inner"; // a field
        }
        return name.replaceFirst("(?<=[\\w&&[^.$]])(Serializer|Deserializer|Serde)$", "");
    }

    private boolean isFormat(Class<?> type) {
        for (String face : new String[] {"Serde", "Serializer", "Deserializer"}) {
            try {
                if (library.type("common.serialization." + face).isAssignableFrom(type)) {
                    return true;
                }
            } catch (ClassNotFoundException absent) {
                return false;
            }
        }
        return false;
    }
}
