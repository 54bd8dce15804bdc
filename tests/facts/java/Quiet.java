/** An application without Kafka: says that it has started, and goes on until its standard input ends. */
public final class Quiet {
    private Quiet() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println("started");
        while (System.in.read() >= 0) {
            continue;
        }
        System.out.println("went on");
    }
}
