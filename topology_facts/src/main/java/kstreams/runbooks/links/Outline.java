package kstreams.runbooks.links;

import java.nio.charset.StandardCharsets;

/**
 * What the constant pool of a class file shows without its code: release, supertypes, and which classes it refers to.
 *
 * Most class files of a class path refer to nothing that is looked for. This reads one in a tenth of the time that a
 * visitor of its methods needs.
 */
final class Outline {
    private static final int HEADER = 8;
    final int major;
    final String superName;
    final String[] interfaces;
    /** Whether a name, descriptor or text has the package that is looked for. */
    final boolean mentions;
    /** The hashes of the names of all classes that the pool refers to, as String#hashCode has them. */
    final int[] classes;

    /** Of a class file; IllegalArgumentException if it is not one, or has a constant of an unknown kind. */
    Outline(byte[] file, byte[] prefix) {
        if (file.length < HEADER + 2 || number(file, 0) != 0xCAFE || number(file, 2) != 0xBABE) {
            throw new IllegalArgumentException("is not a class file");
        }
        major = number(file, HEADER - 2);
        int count = number(file, HEADER);
        int[] at = new int[count];
        int referred = 0;
        int offset = HEADER + 2;
        for (int constant = 1; constant < count; constant++) {
            at[constant] = offset;
            int tag = file[offset];
            if (tag == 7) {
                referred++;
            }
            offset += 1 + size(tag, file, offset);
            if (tag == 5 || tag == 6) {
                constant++; // a long or a double has two places
            }
        }
        mentions = contains(file, HEADER + 2, offset, prefix);
        classes = new int[referred];
        for (int constant = 1, next = 0; constant < count; constant++) {
            if (at[constant] != 0 && file[at[constant]] == 7) {
                classes[next++] = hash(file, at[number(file, at[constant] + 1)]);
            }
        }
        superName = name(file, at, number(file, offset + 4));
        interfaces = new String[number(file, offset + 6)];
        for (int next = 0; next < interfaces.length; next++) {
            interfaces[next] = name(file, at, number(file, offset + 8 + 2 * next));
        }
    }

    private static int size(int tag, byte[] file, int offset) {
        switch (tag) {
            case 1:
                return 2 + number(file, offset + 1);
            case 7:
            case 8:
            case 16:
            case 19:
            case 20:
                return 2;
            case 15:
                return 3;
            case 3:
            case 4:
            case 9:
            case 10:
            case 11:
            case 12:
            case 17:
            case 18:
                return 4;
            case 5:
            case 6:
                return 8;
            default:
                throw new IllegalArgumentException("has a constant of the unknown kind " + tag);
        }
    }

    private static String name(byte[] file, int[] at, int constant) {
        if (constant == 0) {
            return null; // java.lang.Object alone
        }
        int text = at[number(file, at[constant] + 1)];
        return new String(file, text + 3, number(file, text + 1), StandardCharsets.UTF_8);
    }

    /** Of a name in ASCII; another one has a hash that no ASCII name may have, and is looked at in vain at most. */
    private static int hash(byte[] file, int text) {
        return hash(file, text + 3, text + 3 + number(file, text + 1));
    }

    static int hash(byte[] name) {
        return hash(name, 0, name.length);
    }

    private static int hash(byte[] file, int from, int end) {
        int hash = 0;
        for (int at = from; at < end; at++) {
            hash = 31 * hash + file[at];
        }
        return hash;
    }

    private static boolean contains(byte[] file, int from, int to, byte[] sought) {
        byte first = sought[0];
        int last = Math.min(to, file.length) - sought.length;
        for (int at = from; at <= last; at++) {
            if (file[at] != first) {
                continue;
            }
            int same = 1;
            while (same < sought.length && file[at + same] == sought[same]) {
                same++;
            }
            if (same == sought.length) {
                return true;
            }
        }
        return false;
    }

    private static int number(byte[] file, int at) {
        return (file[at] & 0xFF) << 8 | (file[at + 1] & 0xFF);
    }
}
