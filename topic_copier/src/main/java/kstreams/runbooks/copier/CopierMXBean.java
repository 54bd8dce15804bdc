package kstreams.runbooks.copier;

import java.util.List;
import java.util.Map;

/** What an agent (Jolokia, Prometheus) reads of a copier that runs. Times are milliseconds since 1970. */
public interface CopierMXBean {
    String getVersion();

    String getGroup();

    List<String> getRoutes();

    String getMode();

    /** as-read or by-time. */
    String getOrder();

    /** The highest time of a record that was copied in order of time; -1 before the first, and with order=as-read. */
    long getMergedUntilMs();

    /** The state of Kafka Streams: RUNNING, REBALANCING, ERROR, … */
    String getState();

    long getStartedAtMs();

    /** Records that this process has copied since its start, also those whose transaction was aborted. */
    long getCopiedRecords();

    /** Over the last reading's interval, ten seconds. */
    double getRecordsPerSecond();

    /** Offsets between the group's committed ones and the last stable ones, of all routes and instances; -1 unread. */
    long getLag();

    /** The same of each source topic. */
    Map<String, Long> getLagByTopic();

    /** When the lag was last read; -1 if it never was. An old one means that the brokers do not answer. */
    long getLagReadAtMs();

    /** Offsets that are left until the copier ends by itself; -1 if it never does. */
    long getUntilLeft();

    /** Empty if there was none. */
    String getLastError();

    long getLastErrorAtMs();
}
