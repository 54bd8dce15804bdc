package shop;

import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

final class Shelf implements KeyValueBytesStoreSupplier {
    private final String name;

    Shelf(String name) {
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public KeyValueStore<Bytes, byte[]> get() {
        return Stores.inMemoryKeyValueStore(name).get();
    }

    @Override
    public String metricsScope() {
        return "shelf";
    }
}
