package kstreams.runbooks.copier;

import org.apache.kafka.common.utils.Utils;

/** Which partition of the target a record is written to. */
enum Mode {
    /** The number of its partition in the source. */
    SAME_PARTITION("same-partition"),
    /** That of its key, as Java producers choose it by default; a record without a key keeps its number. */
    BY_KEY("by-key");

    final String written;

    Mode(String written) {
        this.written = written;
    }

    static Mode parse(String text) throws Refused {
        for (Mode mode : values()) {
            if (mode.written.equals(text)) {
                return mode;
            }
        }
        throw new Refused("mode: '" + text + "' is not same-partition or by-key.");
    }

    int partition(byte[] key, int source, int partitions) {
        return this == SAME_PARTITION || key == null ? source : Utils.toPositive(Utils.murmur2(key)) % partitions;
    }
}
