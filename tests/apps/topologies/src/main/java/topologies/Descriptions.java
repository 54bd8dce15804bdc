package topologies;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Writes what the library says of each pair to {@code DIRECTORY/<pair>/before.txt} and {@code after.txt}.
 *
 * A release builds the pairs that were compiled for it.
 */
public final class Descriptions {
    private final Path directory;

    private Descriptions(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] arguments) throws Exception {
        Descriptions descriptions = new Descriptions(Path.of(arguments[0]));
        for (Map.Entry<String, Pairs.Builder> pair : Pairs.byName().entrySet()) {
            descriptions.write(pair.getKey(), pair.getValue().build());
        }
    }

    private void write(String pair, Pair topologies) throws IOException {
        Path folder = Files.createDirectories(directory.resolve(pair));
        Files.writeString(folder.resolve("before.txt"), topologies.before().describe().toString());
        Files.writeString(folder.resolve("after.txt"), topologies.after().describe().toString());
    }
}
