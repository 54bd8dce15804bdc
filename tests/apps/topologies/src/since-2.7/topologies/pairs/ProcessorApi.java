package topologies.pairs;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import topologies.Pair;

/** Topologies put together by hand. */
public final class ProcessorApi {

    /** A processor is put between the source and the one with the store. */
    public Pair processorAddedByHand() {
        return Pair.of(
                () -> withStore(source("invoices"), "source", "invoices-seen").addSink("sink", "invoices-once", "once"),
                () -> withStore(source("invoices")
                        .addProcessor("trim", PassOn.supplier(), "source"), "trim", "invoices-seen")
                        .addSink("sink", "invoices-once", "once"));
    }

    /** A second processor gets access to the store of the first. */
    public Pair storeSharedBySecondProcessor() {
        return Pair.of(
                () -> withStore(source("invoices"), "source", "invoices-seen")
                        .addProcessor("report", PassOn.supplier(), "once"),
                () -> withStore(source("invoices"), "source", "invoices-seen")
                        .addProcessor("report", PassOn.supplier(), "once")
                        .connectProcessorAndStateStores("report", "invoices-seen"));
    }

    /** A processor of another part of the application gets access to the store: the two parts become one. */
    public Pair storeSharedAcrossSubtopologies() {
        return Pair.of(() -> twoParts(), () -> twoParts().connectProcessorAndStateStores("void", "invoices-seen"));
    }

    /** The store of the processor has another name. */
    public Pair storeRenamedByHand() {
        return Pair.of(
                () -> withStore(source("invoices"), "source", "invoices-seen"),
                () -> withStore(source("invoices"), "source", "seen-invoices"));
    }

    /** The processor does something else with its records. */
    public Pair processorLogicChangedByHand() {
        return Pair.of(
                () -> source("invoices").addProcessor("pass", PassOn.supplier(), "source"),
                () -> source("invoices").addProcessor("pass", Drop.supplier(), "source"));
    }

    /** The store moves from the first processor to one behind a topic of one's own. */
    public Pair storeMovedToOtherSubtopologyByHand() {
        return Pair.of(
                () -> withStore(source("invoices"), "source", "invoices-seen")
                        .addSink("once-sink", "invoices-once", "once")
                        .addSource("once-source", "invoices-once")
                        .addProcessor("report", PassOn.supplier(), "once-source"),
                () -> source("invoices")
                        .addProcessor("once", PassOn.supplier(), "source")
                        .addSink("once-sink", "invoices-once", "once")
                        .addSource("once-source", "invoices-once")
                        .addProcessor("report", PassOn.supplier(), "once-source")
                        .addStateStore(store("invoices-seen"), "report"));
    }

    /** The window store of a processor keeps each record of a key and a time: {@code retainDuplicates}. */
    public Pair windowStoreKeepsDuplicates() {
        return Pair.of(() -> withWindows(PassOn.supplier(), false), () -> withWindows(PassOn.supplier(), true));
    }

    /** The processor does something else with a window store that keeps duplicates. */
    public Pair processorOfDuplicatesChanged() {
        return Pair.of(() -> withWindows(PassOn.supplier(), true), () -> withWindows(Drop.supplier(), true));
    }

    private static Topology withWindows(ProcessorSupplier<String, String, String, String> code, boolean duplicates) {
        Duration hour = Duration.ofHours(1);
        return source("invoices")
                .addProcessor("once", code, "source")
                .addStateStore(
                        Stores.windowStoreBuilder(
                                Stores.persistentWindowStore("invoices-by-time", hour, hour, duplicates),
                                Serdes.String(),
                                Serdes.String()),
                        "once")
                .addSink("sink", "invoices-once", "once");
    }

    private static Topology twoParts() {
        return withStore(source("invoices"), "source", "invoices-seen")
                .addSource("void-source", "voided-invoices")
                .addProcessor("void", PassOn.supplier(), "void-source");
    }

    private static Topology source(String topic) {
        return new Topology().addSource("source", topic);
    }

    private static Topology withStore(Topology topology, String parent, String store) {
        return topology.addProcessor("once", PassOn.supplier(), parent).addStateStore(store(store), "once");
    }

    private static StoreBuilder<?> store(String name) {
        return Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(name), Serdes.String(), Serdes.String());
    }

    /** Gives every record on. */
    private static final class PassOn implements Processor<String, String, String, String> {
        private ProcessorContext<String, String> context;

        private static ProcessorSupplier<String, String, String, String> supplier() {
            return PassOn::new;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            this.context = context;
        }

        @Override
        public void process(Record<String, String> invoice) {
            context.forward(invoice);
        }
    }

    /** Gives no record on. */
    private static final class Drop implements Processor<String, String, String, String> {

        private static ProcessorSupplier<String, String, String, String> supplier() {
            return Drop::new;
        }

        @Override
        public void process(Record<String, String> invoice) {}
    }
}
