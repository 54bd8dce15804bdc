import java.io.InputStream;
import java.util.Enumeration;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Reads every entry of some jars once, and prints how many and how many bytes: the floor of a scan of them. */
public class EveryEntry {
    public static void main(String[] jars) throws Exception {
        byte[] buffer = new byte[1 << 16];
        long bytes = 0;
        int entries = 0;
        for (String jar : jars) {
            try (ZipFile file = new ZipFile(jar)) {
                for (Enumeration<? extends ZipEntry> all = file.entries(); all.hasMoreElements(); entries++) {
                    try (InputStream stream = file.getInputStream(all.nextElement())) {
                        for (int read = stream.read(buffer); read >= 0; read = stream.read(buffer)) {
                            bytes += read;
                        }
                    }
                }
            }
        }
        System.out.println(entries + " " + bytes);
    }
}
