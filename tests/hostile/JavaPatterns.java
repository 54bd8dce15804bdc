import java.util.regex.Pattern;

/** Prints for each pattern of the arguments before "--" which of the names behind it Java matches, as 1 and 0. */
public class JavaPatterns {
    public static void main(String[] given) {
        int names = java.util.Arrays.asList(given).indexOf("--") + 1;
        for (int number = 0; number < names - 1; number++) {
            Pattern pattern = Pattern.compile(given[number]);
            StringBuilder line = new StringBuilder();
            for (int at = names; at < given.length; at++) {
                line.append(pattern.matcher(given[at]).matches() ? '1' : '0');
            }
            System.out.println(line);
        }
    }
}
