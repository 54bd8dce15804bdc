package orders;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.Options;

/**
 * TEST ONLY ({@code fail.at.start=true}): a release that cannot open its stores. Its threads die before any task runs,
 * so it never becomes RUNNING and ends in ERROR, and nothing that the other instances share is touched.
 */
public final class FailAtStart implements RocksDBConfigSetter {
    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        throw new IllegalStateException("fail.at.start=true: the store " + storeName + " is not opened");
    }

    @Override
    public void close(String storeName, Options options) {}
}
