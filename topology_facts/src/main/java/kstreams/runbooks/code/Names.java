package kstreams.runbooks.code;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** What names of classes show: the JDK, loggers, and what of the JDK leaves the code. */
final class Names {
    // In a jar with other classes too: the classes of a logger that a program calls.
    private static final Pattern LOGGER_CALLED = Pattern.compile(
            "org/slf4j/(I?Logger(Factory)?|MDC(\\$MDCCloseable)?|I?Marker(Factory)?|event/\\w+|spi/\\w+)"
                    + "|org/apache/logging/log4j/(Log\\w+|Level|Marker\\w*|ThreadContext)"
                    + "|org/apache/commons/logging/Log(Factory)?|org/apache/log4j/(Logger|Level|Category|Priority)");
    private static final Pattern JDK = Pattern.compile("\\[*L?(java|jdk|sun|com/sun)/.*");
    private static final Pattern LOGGER = Pattern.compile(
            "(org/slf4j|org/apache/(logging|log4j|commons/logging)|ch/qos/logback|java/util/logging|mu|"
                    + "io/github/oshai/kotlinlogging|com/typesafe/scalalogging)/.*");
    // By owner and name: what reads something that is not code of the program, or code that no instruction names.
    private static final Pattern LEAVES = Pattern.compile(
            "java/util/(Locale|TimeZone)\\.setDefault|java/lang/System\\.(getenv|getProperty|getProperties|load|loadLibrary|console|in|setPropert.*|clearProperty)"
                    + "|java/lang/(Integer|Long|Boolean)\\.(getInteger|getLong|getBoolean)"
                    + "|java/lang/Class\\.(?!(getName|getSimpleName|getTypeName|getCanonicalName|getPackageName|toString|cast"
                    + "|isInstance|isAssignableFrom|isArray|isPrimitive|getComponentType|getEnumConstants|getClass|equals"
                    + "|hashCode|desiredAssertionStatus)$).*"
                    + "|java/lang/Thread\\.(getContextClassLoader|getName|dumpStack|getAllStackTraces)|.*\\.getStackTrace"
                    + "|java/lang/(StackWalker.*|StackTraceElement)\\..*|.*/(Throwables|ExceptionUtils)\\.get\\w*Stack\\w+"
                    + "|.*\\.(findAndRegisterModules|findModules|findAndAddModules|appConfigs\\w*)|java/beans/.*"
                    + "|java/lang/(Process|ProcessBuilder|ProcessHandle|Runtime|ClassLoader|Module|ModuleLayer)\\..*"
                    + "|java/lang/(reflect|invoke|instrument|foreign)/.*|java/lang/management/.*"
                    + "|java/io/(File.*|RandomAccessFile|Object(In|Out)putStream|Console)\\..*"
                    + "|java/nio/file/.*|java/nio/channels/.*"
                    + "|java/net/(?!URI\\.|URLEncoder|URLDecoder).*"
                    + "|java/util/(ServiceLoader|ResourceBundle|PropertyResourceBundle)\\..*"
                    + "|java/util/(prefs|jar|zip/ZipFile).*|java/util/Scanner\\.<init>.*"
                    + "|java/(sql|rmi)/.*|javax/(net|script|naming|sql|management|tools)/.*|sun/.*|jdk/.*"
                    + "|.*/common/utils/Utils\\.(load.*|new.*Instance|read.*|newInstance)"
                    + "|.*/common/utils/AppInfoParser\\..*");
    // Types of which no object is one of the program's.
    private static final Pattern SHOWN = Pattern.compile(
            "java/lang/(String|Integer|Long|Short|Byte|Character|Boolean|Float|Double|Void|StringBuilder|StringBuffer"
                    + "|Math|StrictMath|System|Class|Void|Enum|Record)"
                    + "|java/time/.*|java/math/.*|java/util/(UUID|Locale|Currency|Date|TimeZone|BitSet|Random|Base64.*)"
                    + "|java/util/(OptionalInt|OptionalLong|OptionalDouble|StringJoiner|StringTokenizer)"
                    + "|java/util/regex/.*|java/util/concurrent/atomic/Atomic(Integer|Long|Boolean).*"
                    + "|java/util/concurrent/TimeUnit|java/util/concurrent/atomic/(Long|Double)Adder"
                    + "|java/nio/.*Buffer|java/nio/ByteOrder|java/nio/charset/.*|java/net/URI|java/util/zip/CRC32"
                    + "|java/security/MessageDigest|java/text/.*");
    // Of Kafka, by the end of their names: they hold no key and no value.
    private static final Pattern SHOWN_OF_KAFKA = Pattern.compile(
            ".*/common/(header/.*|utils/(Bytes|Time)|TopicPartition|Cluster|record/TimestampType)"
                    + "|.*/streams/processor/(.*ProcessorContext|StateStoreContext|RecordContext|TaskId"
                    + "|Cancellable|PunctuationType|StateStore|To)"
                    + "|.*/streams/processor/api/(.*ProcessorContext|ProcessingContext|RecordMetadata)"
                    + "|.*/streams/kstream/Window");

    private Names() {}

    private static final Map<String, Boolean> IS_JDK = new HashMap<>();
    private static final Map<String, Boolean> IS_LOGGER = new HashMap<>();

    static boolean isJdk(String name) {
        return IS_JDK.computeIfAbsent(name, one -> JDK.matcher(one).matches());
    }

    static boolean isLogger(String name) {
        return IS_LOGGER.computeIfAbsent(name, one -> LOGGER.matcher(one).matches());
    }

    /** Whether a class is one that a program calls to log, as loggers name them. */
    static boolean isLoggerCalled(String name) {
        return LOGGER_CALLED.matcher(name).matches();
    }

    /** Whether a call or a static field leaves what the digest can compare; `desc` is that of a method. */
    static boolean leaves(String owner, String member, String desc) {
        return LEAVES.matcher(owner + "." + member).matches()
                || (member.equals("printStackTrace") && !desc.equals("()V"));
    }

    /** Whether no object of a type can be one of the program's, or have one inside it. */
    static boolean isShown(String name) {
        return SHOWN.matcher(name).matches() || SHOWN_OF_KAFKA.matcher(name).matches();
    }

    /** As source has it. */
    static String shown(String name) {
        return name.replace('/', '.');
    }
}
