package kstreams.runbooks.code;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TimeZone;
import java.util.TreeSet;

/**
 * What a JVM gives to code that asks for no value: locales, the time zone and system properties. What the program itself
 * has changed of them since they were noted is part of its code, wherever it runs.
 */
public final class JvmDefaults {
    private static final String OF_JVM = "sun\\..*|jdk\\..*|java\\.(vm|class)\\..*|kstreams\\.runbooks\\..*";
    private final String locales = locales();
    private final String zone = TimeZone.getDefault().getID();
    private final Properties properties = (Properties) System.getProperties().clone();

    /** What is different now, with the values of properties as digests. */
    List<String> changed() {
        List<String> found = new ArrayList<>();
        if (!locales.equals(locales())) {
            found.add("locales " + locales());
        }
        if (!zone.equals(TimeZone.getDefault().getID())) {
            found.add("zone " + TimeZone.getDefault().getID());
        }
        Properties now = (Properties) System.getProperties().clone();
        for (String name : new TreeSet<>(now.stringPropertyNames())) {
            String value = now.getProperty(name);
            if (!name.matches(OF_JVM) && !value.equals(properties.getProperty(name))) {
                found.add("property " + MethodCode.quoted(name) + " " + Border.sha(value, 2));
            }
        }
        return found;
    }

    private static String locales() {
        return Locale.getDefault() + " " + Locale.getDefault(Locale.Category.FORMAT) + " "
                + Locale.getDefault(Locale.Category.DISPLAY);
    }
}
