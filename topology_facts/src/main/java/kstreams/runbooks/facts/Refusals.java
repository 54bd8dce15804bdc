package kstreams.runbooks.facts;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * What the library refuses of the settings of a program: it builds what a start builds before the first connection.
 *
 * That is the configuration of Kafka Streams, those of its clients with the serializers that Kafka Streams gives them,
 * the address of the instance, the configuration of the assignor, and the classes that are a default of the program.
 * No client is made, and no provider of settings is asked: it would read a secret.
 */
final class Refusals {
    /** Builds one part of what a start builds; an InvocationTargetException has what the library throws. */
    private interface Part {
        void build(Object config, Map<String, Object> settings) throws ReflectiveOperationException;
    }

    private static final String CONFIG = "streams.StreamsConfig";
    private static final String CLIENTS = "clients.";
    private static final String BYTES = "common.serialization.ByteArray";
    private static final String ASSIGNOR = "streams.processor.internals.assignment.AssignorConfiguration";
    private static final String CONTAINER = "streams.processor.internals.assignment.ReferenceContainer";
    private static final String SERVER = "application.server";
    private static final String UPGRADE = "upgrade.from";
    private static final String TASKS = "task.assignor.class";
    // Each client makes objects of the classes that these name, and their names are checked by nothing before.
    private static final String[] NAMED = {"interceptor.classes", "metric.reporters"};
    private static final String PROVIDERS = "config.providers";
    // Settings without which the library constructs nothing: a program whose deployment gives them may leave them out.
    private static final String[] NEEDED = {"application.id", "bootstrap.servers"};
    private static final String IN_PLACE = "localhost:9092";
    private static final Map<String, String> DEFAULTS = new TreeMap<>();
    private static final int MOST = 20;
    private static final int LEAST_TOKEN = 4;

    static {
        DEFAULTS.put("default.key.serde", "defaultKeySerde");
        DEFAULTS.put("default.value.serde", "defaultValueSerde");
        DEFAULTS.put("default.timestamp.extractor", "defaultTimestampExtractor");
        DEFAULTS.put("default.deserialization.exception.handler", "defaultDeserializationExceptionHandler");
        DEFAULTS.put("default.production.exception.handler", "defaultProductionExceptionHandler");
        DEFAULTS.put("deserialization.exception.handler", "deserializationExceptionHandler");
        DEFAULTS.put("production.exception.handler", "productionExceptionHandler");
        DEFAULTS.put("processing.exception.handler", "processingExceptionHandler");
        DEFAULTS.put("default.client.supplier", "getKafkaClientSupplier");
    }

    private final Library library;
    private final Settings settings;
    private final Map<String, Object> given = new TreeMap<>();

    Refusals(Library library, Settings settings) {
        this.library = library;
        this.settings = settings;
    }

    /** Each refusal as the fact {@code refused}, none if the library takes all; what is not tried was not read. */
    void read(Facts facts) {
        Facts refused = facts.at("refused");
        boolean provided = settings.given().keySet().stream().anyMatch(name -> name.startsWith(PROVIDERS));
        settings.given().forEach((name, value) -> {
            if (name.startsWith(PROVIDERS)) {
                return;
            }
            if (provided && String.valueOf(value).contains("${")) {
                refused.notRead(name, "setting " + name + " comes from a config provider, which was not asked because"
                        + " the value may be a secret; whether the library takes it is not known");
            } else {
                given.put(name, value);
            }
        });
        List<Map<String, Object>> found = new ArrayList<>();
        for (Map.Entry<String, Part> part : parts().entrySet()) {
            try {
                found.addAll(refusals(part.getKey(), part.getValue()));
            } catch (ReflectiveOperationException | RuntimeException | LinkageError other) {
                refused.notRead(part.getKey(), "this release of Kafka Streams does not show whether it takes the settings ("
                        + other.getClass().getName() + "); only a start shows it");
            }
        }
        facts.replace("refused", found);
    }

    private Map<String, Part> parts() {
        Map<String, Part> parts = new LinkedHashMap<>();
        parts.put(CONFIG, (config, settings) -> { });
        parts.put("main consumer", (config, settings) -> client("consumer.ConsumerConfig", deserialized(
                call(config, "getMainConsumerConfigs", "group", "client", 0))));
        parts.put("restore consumer", (config, settings) -> client("consumer.ConsumerConfig", deserialized(
                call(config, "getRestoreConsumerConfigs", "client"))));
        parts.put("global consumer", (config, settings) -> client("consumer.ConsumerConfig", deserialized(
                call(config, "getGlobalConsumerConfigs", "client"))));
        parts.put("producer", (config, settings) -> client("producer.ProducerConfig", serialized(
                call(config, "getProducerConfigs", "client"), settings)));
        parts.put("admin client", (config, settings) -> client("admin.AdminClientConfig",
                copy(call(config, "getAdminConfigs", "client"))));
        parts.put(SERVER, (config, settings) -> address(settings.get(SERVER)));
        parts.put("assignor", this::assignor);
        DEFAULTS.forEach((name, getter) -> parts.put(name, (config, settings) -> {
            if (settings.containsKey(name)) {
                call(config, getter);
            }
        }));
        return parts;
    }

    /** All refusals of one part: settings that one refusal is about are left out for the next, and for later parts. */
    private List<Map<String, Object>> refusals(String name, Part part) throws ReflectiveOperationException {
        List<Map<String, Object>> found = new ArrayList<>();
        Throwable refusal = refusal(part, given);
        while (refusal != null && found.size() < MOST) {
            if (refusal(part, Collections.emptyMap()) != null) {
                throw new ReflectiveOperationException("refused without settings of the program");
            }
            Set<String> blamed = blamed(part, refusal);
            found.add(fact(name, blamed, refusal));
            given.keySet().removeAll(blamed);
            refusal = refusal(part, given);
        }
        return found;
    }

    /** The settings of which each one, left out, ends the refusal; else those that its message names, or all. */
    private Set<String> blamed(Part part, Throwable refusal) throws ReflectiveOperationException {
        Set<String> blamed = new TreeSet<>();
        for (String name : given.keySet()) {
            Map<String, Object> others = new HashMap<>(given);
            others.remove(name);
            Throwable other = refusal(part, others);
            if (other == null || !String.valueOf(other).equals(String.valueOf(refusal)) && named(refusal, name)) {
                blamed.add(name);
            }
        }
        if (blamed.isEmpty()) {
            given.keySet().stream().filter(name -> named(refusal, name)).forEach(blamed::add);
        }
        return blamed.isEmpty() ? new TreeSet<>(given.keySet()) : blamed;
    }

    private static boolean named(Throwable refusal, String name) {
        String bare = name.replaceFirst("^((main|restore|global)\\.)?(consumer|producer|admin)\\.", "");
        return occurs(bare).matcher(String.valueOf(refusal.getMessage())).find();
    }

    /** What the library throws at some settings; null if it takes them. Any other exception is the reader's own. */
    private Throwable refusal(Part part, Map<String, Object> some) throws ReflectiveOperationException {
        Map<String, Object> whole = new HashMap<>(some);
        for (String needed : NEEDED) {
            whole.putIfAbsent(needed, IN_PLACE);
        }
        try {
            part.build(config(whole), whole);
            return null;
        } catch (InvocationTargetException thrown) {
            Throwable cause = thrown.getCause();
            if (cause instanceof VirtualMachineError && !(cause instanceof StackOverflowError)) {
                throw (VirtualMachineError) cause;
            }
            return cause;
        }
    }

    /** A StreamsConfig that logs nothing, checked as a start checks it. */
    private Object config(Map<String, Object> settings) throws ReflectiveOperationException {
        Class<?> type = library.type(CONFIG);
        Constructor<?> constructor = type.getDeclaredConstructor(Map.class, boolean.class);
        constructor.setAccessible(true);
        Object config = constructor.newInstance(settings, false);
        for (Method check : type.getDeclaredMethods()) {
            // Some checks are left out if nothing is logged.
            if (check.getName().startsWith("verify") && Arrays.equals(check.getParameterTypes(), new Class<?>[] {boolean.class})) {
                check.setAccessible(true);
                check.invoke(config, true);
            }
        }
        return config;
    }

    private void client(String type, Map<String, Object> settings) throws ReflectiveOperationException {
        Constructor<?> constructor;
        Class<?> config = library.type(CLIENTS + type);
        try {
            constructor = config.getDeclaredConstructor(Map.class, boolean.class);
            constructor.setAccessible(true);
            constructor.newInstance(settings, false);
        } catch (NoSuchMethodException logs) {
            config.getConstructor(Map.class).newInstance(settings);
        }
        loaded(settings);
    }

    private Map<String, Object> deserialized(Object settings) throws ReflectiveOperationException {
        Map<String, Object> whole = copy(settings);
        whole.put("key.deserializer", library.type(BYTES + "Deserializer"));
        whole.put("value.deserializer", library.type(BYTES + "Deserializer"));
        return whole;
    }

    private Map<String, Object> serialized(Object settings, Map<String, Object> given) throws ReflectiveOperationException {
        Map<String, Object> whole = copy(settings);
        whole.put("key.serializer", library.type(BYTES + "Serializer"));
        whole.put("value.serializer", library.type(BYTES + "Serializer"));
        if (String.valueOf(given.get("processing.guarantee")).startsWith("exactly_once")) {
            whole.put("transactional.id", "topology-facts"); // a thread of Kafka Streams adds its own
        }
        return whole;
    }

    private static Map<String, Object> copy(Object settings) {
        Map<String, Object> copy = new HashMap<>();
        ((Map<?, ?>) settings).forEach((name, value) -> copy.put((String) name, value));
        return copy;
    }

    private void address(Object server) throws ReflectiveOperationException {
        if (server == null || String.valueOf(server).trim().isEmpty()) {
            return;
        }
        Method parse = library.type("streams.KafkaStreams").getDeclaredMethod("parseHostInfo", String.class);
        parse.setAccessible(true);
        parse.invoke(null, String.valueOf(server));
    }

    /**
     * The assignor reads upgrade.from: a value that the configuration takes may be one that it does not know.
     *
     * The member that leads the group makes the task assignor, so an instance without its class starts and dies later.
     */
    private void assignor(Object config, Map<String, Object> settings) throws ReflectiveOperationException {
        if (!settings.containsKey(UPGRADE) && !settings.containsKey(TASKS)) {
            return;
        }
        Map<String, Object> whole = copy(call(config, "getMainConsumerConfigs", "group", "client", 0));
        whole.put("__reference.container.instance__", library.type(CONTAINER).getConstructor().newInstance());
        Object assignor = library.type(ASSIGNOR).getConstructor(Map.class).newInstance(whole);
        // Without such a method the constructor has checked the value, or the release has no such setting.
        for (String made : new String[] {"rebalanceProtocol", "customTaskAssignor"}) {
            if (Arrays.stream(assignor.getClass().getMethods()).anyMatch(method -> method.getName().equals(made))) {
                call(assignor, made);
            }
        }
    }

    /** Loads the classes that a client makes objects of, and makes none: a reporter may open a port. */
    private void loaded(Map<String, Object> settings) throws ReflectiveOperationException {
        Method load = library.type("common.utils.Utils").getMethod("loadClass", String.class, Class.class);
        for (String name : NAMED) {
            Object named = settings.get(name);
            for (Object type : named instanceof List ? (List<?>) named : Arrays.asList(String.valueOf(named).split(","))) {
                if (named != null && type instanceof String && !((String) type).trim().isEmpty()) {
                    load.invoke(null, ((String) type).trim(), Object.class);
                }
            }
        }
    }

    private static Object call(Object of, String name, Object... arguments) throws ReflectiveOperationException {
        Class<?>[] types = new Class<?>[arguments.length];
        for (int at = 0; at < arguments.length; at++) {
            types[at] = arguments[at] instanceof Integer ? int.class : arguments[at].getClass();
        }
        return of.getClass().getMethod(name, types).invoke(of, arguments);
    }

    private Map<String, Object> fact(String by, Set<String> blamed, Throwable refusal) {
        Map<String, Object> fact = new LinkedHashMap<>();
        fact.put("by", by);
        fact.put("settings", new ArrayList<>(blamed));
        fact.put("exception", refusal.getClass().getName());
        fact.put("sentence", withoutValues(String.valueOf(refusal.getMessage()), blamed));
        return fact;
    }

    /** A message without the values of the refused settings, and of those that no fact shows. */
    private String withoutValues(String message, Set<String> blamed) {
        Set<String> values = new HashSet<>();
        settings.given().forEach((name, value) -> {
            String text = String.valueOf(value).trim();
            boolean hidden = !settings.shows(name);
            if (hidden || blamed.contains(name)) {
                values.add(text);
                for (String token : text.split("[\\s,;='\"]+")) {
                    if (hidden ? !token.isEmpty() : token.length() >= LEAST_TOKEN) {
                        values.add(token);
                    }
                }
            }
        });
        values.remove("");
        List<String> longestFirst = new ArrayList<>(values);
        longestFirst.sort(Comparator.comparing(String::length).reversed());
        String clean = message.replaceAll("\\s+", " ").trim();
        for (String value : longestFirst) {
            clean = occurs(value).matcher(clean).replaceAll("…");
        }
        return clean;
    }

    private static Pattern occurs(String text) {
        return Pattern.compile("(?<![\\w.-])" + Pattern.quote(text) + "(?![\\w-]|\\.\\w)");
    }
}
