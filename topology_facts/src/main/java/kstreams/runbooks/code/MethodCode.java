package kstreams.runbooks.code;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.TypePath;

/**
 * The instructions of one method as text: without line numbers, names of variables, places in the constant pool and the
 * numbers of the compiler. What it refers to is in a list, in the order of the instructions.
 */
final class MethodCode extends MethodVisitor {
    /** Before the owner, name and descriptor of a body that counts where it is used. */
    static final char INLINE = '\u0001';
    private static final String META = "java/lang/invoke/LambdaMetafactory";
    private static final Pattern COPY = Pattern.compile("i(89|9[0-4])");
    private static final Pattern END = Pattern.compile("access .*|i" + Opcodes.RETURN);
    private static final Pattern PARAMETER = Pattern.compile("v2[1-5] \\d+");
    // The object around one, and variables of the method around it.
    private static final Pattern CAPTURED = Pattern.compile("f181 [^.]+\\.(this\\$\\d+|val\\$[^ ]*) .*");
    private static final Set<String> NAMES = new HashSet<>(Arrays.asList(
            "getName", "getSimpleName", "getTypeName", "getCanonicalName", "getPackageName", "toString"));
    private static final String[] BOOTSTRAPS = {"java/lang/invoke/", "java/lang/runtime/"};

    /** A place in the instructions, whose number is that of its first use. */
    private static final class Place {
        final Label label;
        final boolean isTarget;

        Place(Label label, boolean isTarget) {
            this.label = label;
            this.isTarget = isTarget;
        }
    }

    /** One field that a constructor fills with a parameter. */
    private static final class Captured {
        final List<Object> tokens;
        final List<Ref> refs;

        Captured(List<Object> tokens, List<Ref> refs) {
            this.tokens = new ArrayList<>(tokens);
            this.refs = new ArrayList<>(refs);
        }

        String field() {
            return String.valueOf(tokens.get(2));
        }
    }

    /** Where the instructions have filled a static field of their class. */
    private static final class Cut {
        final int token;
        final int ref;
        final String field;

        Cut(int token, int ref, String field) {
            this.token = token;
            this.ref = ref;
            this.field = field;
        }
    }

    final String owner;
    final int access;
    final String name;
    final String desc;
    final String signature;
    /** The instructions. */
    final List<String> body = new ArrayList<>();
    final List<Ref> refs = new ArrayList<>();
    final List<String> parameters = new ArrayList<>();
    /** The static field that this part of an initializer fills; null for the last one, and for a method. */
    String fills;
    /** What only a library sees that reads the class by reflection: annotations. */
    final List<Object> shape = new ArrayList<>();
    final List<Ref> shapeRefs = new ArrayList<>();
    private final List<Object> tokens = new ArrayList<>();
    private final Set<Label> used = new HashSet<>();
    private final List<Cut> cuts = new ArrayList<>();
    private final List<MethodCode> parts = new ArrayList<>();
    /** The class literal right before this instruction, which a logger or an assertion may take. */
    private Ref literal;
    /** Whether the instruction before this one has called something that returns an object of any class. */
    private boolean isBare;
    /** Whether such an object is used without a cast that shows its class. */
    boolean usesBareObject;
    /** Whether it asks a class for its name: that of an anonymous class has a number. */
    boolean usesNames;

    MethodCode(String owner, int access, String name, String desc, String signature) {
        super(Opcodes.ASM9);
        this.owner = owner;
        this.access = access;
        this.name = name;
        this.desc = desc;
        this.signature = signature;
        tokens.add("access " + (access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT | Opcodes.ACC_SYNCHRONIZED | Opcodes.ACC_STRICT)));
    }

    boolean is(int flag) {
        return (access & flag) != 0;
    }

    /** Whether the compiler made it of a lambda or for the access of another class: its name has a number. */
    boolean isInlined() {
        return is(Opcodes.ACC_SYNTHETIC) && isInlined(name);
    }

    boolean isAnnotated() {
        return shape.stream().anyMatch(token -> String.valueOf(token).startsWith("@"));
    }

    static boolean isInlined(String name) {
        return name.startsWith("lambda$") || name.matches("access\\$\\d+") || name.contains("$anonfun$");
    }

    private void add(String token) {
        literal = null;
        usesBareObject |= isBare;
        isBare = false;
        tokens.add(token);
    }

    private void refer(Ref.Kind kind, String of, String member, String type) {
        refs.add(new Ref(kind, of, member, type));
    }

    @Override
    public void visitInsn(int opcode) {
        isBare &= opcode != Opcodes.POP;
        add("i" + opcode);
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        add("i" + opcode + " " + operand);
    }

    @Override
    public void visitVarInsn(int opcode, int place) {
        add("v" + opcode + " " + place);
    }

    @Override
    public void visitIincInsn(int place, int increment) {
        add("inc " + place + " " + increment);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        isBare &= opcode != Opcodes.CHECKCAST && opcode != Opcodes.INSTANCEOF;
        add("t" + opcode + " " + type);
        refer(opcode == Opcodes.CHECKCAST ? Ref.Kind.CAST : Ref.Kind.TYPE, type, "", "");
    }

    @Override
    public void visitMultiANewArrayInsn(String type, int dimensions) {
        add("array " + type + " " + dimensions);
        refer(Ref.Kind.TYPE, type, "", "");
    }

    @Override
    public void visitFieldInsn(int opcode, String of, String field, String type) {
        add("f" + opcode + " " + of + "." + field + " " + type);
        if (opcode == Opcodes.GETSTATIC || opcode == Opcodes.PUTSTATIC) {
            refer(Ref.Kind.READ_STATIC, of, opcode == Opcodes.GETSTATIC ? field : "", type);
        } else {
            refer(opcode == Opcodes.GETFIELD ? Ref.Kind.READ_FIELD : Ref.Kind.WRITE_FIELD, of, field, type);
        }
        refer(Ref.Kind.TYPE, Type.getType(type).getInternalName(), "", "");
        if (opcode == Opcodes.PUTSTATIC && of.equals(owner)) {
            cuts.add(new Cut(tokens.size(), refs.size(), field));
        }
    }

    @Override
    public void visitMethodInsn(int opcode, String of, String method, String type, boolean isInterface) {
        if (literal != null && takesName(of, method)) {
            refs.remove(literal); // its name alone counts
        } else {
            usesNames |= of.equals("java/lang/Class") && NAMES.contains(method);
        }
        if (opcode == Opcodes.INVOKESTATIC && isInlined(method)) {
            add(INLINE + of + " " + method + " " + type);
            refer(Ref.Kind.INLINE, of, method, type);
            return;
        }
        boolean isFixed = opcode == Opcodes.INVOKESTATIC || opcode == Opcodes.INVOKESPECIAL;
        add("m" + opcode + " " + of + "." + method + type);
        refer(isFixed ? Ref.Kind.CALL : Ref.Kind.VIRTUAL, of, method, type);
        isBare = type.endsWith(")Ljava/lang/Object;");
    }

    /** Of a class literal: a logger is named after it, and an assertion asks whether it is on. */
    private static boolean takesName(String of, String method) {
        return Names.isLogger(of)
                || (of.equals("java/lang/Class")
                        && method.matches("desiredAssertionStatus|getName|getSimpleName|getTypeName|hashCode"));
    }

    @Override
    public void visitInvokeDynamicInsn(String method, String type, Handle bootstrap, Object... arguments) {
        add("dynamic " + method + type + " " + bootstrap.getOwner() + "." + bootstrap.getName());
        if (Arrays.stream(BOOTSTRAPS).noneMatch(bootstrap.getOwner()::startsWith)) {
            refer(Ref.Kind.CALL, bootstrap.getOwner(), bootstrap.getName(), bootstrap.getDesc());
        }
        if (!bootstrap.getOwner().equals(META)) {
            // What a text is made of is asked for its own, as String.valueOf does; so is what a switch compares.
            refer(Ref.Kind.CALL, "java/lang/String", method, type);
        }
        for (Type part : Type.getArgumentTypes(type)) {
            refer(Ref.Kind.TYPE, part.getInternalName(), "", "");
        }
        int before = refs.size();
        for (Object argument : arguments) {
            constantUsed(argument);
        }
        if (bootstrap.getOwner().startsWith(BOOTSTRAPS[1])) {
            // A record that is written as text and a switch over types name their classes, and read none of them.
            refs.subList(before, refs.size()).replaceAll(ref ->
                    ref.kind == Ref.Kind.LITERAL ? new Ref(Ref.Kind.TYPE, ref.owner, "", "") : ref);
        }
    }

    private void constantUsed(Object value) {
        if (value instanceof Handle) {
            handle((Handle) value);
        } else if (value instanceof ConstantDynamic) {
            ConstantDynamic constant = (ConstantDynamic) value;
            add("constant " + constant.getName() + constant.getDescriptor());
            handle(constant.getBootstrapMethod());
            for (int at = 0; at < constant.getBootstrapMethodArgumentCount(); at++) {
                constantUsed(constant.getBootstrapMethodArgument(at));
            }
        } else {
            add("c" + constant(value));
            if (value instanceof Type) {
                typeUsed((Type) value);
            }
        }
    }

    private void typeUsed(Type type) {
        if (type.getSort() == Type.METHOD) {
            for (Type part : Type.getArgumentTypes(type.getDescriptor())) {
                refer(Ref.Kind.TYPE, part.getInternalName(), "", "");
            }
        } else {
            refer(Ref.Kind.LITERAL, type.getInternalName(), "", "");
        }
    }

    private void handle(Handle handle) {
        usesNames |= handle.getOwner().equals("java/lang/Class") && NAMES.contains(handle.getName());
        if (handle.getTag() <= Opcodes.H_PUTSTATIC) {
            add("h" + handle.getTag() + " " + handle.getOwner() + "." + handle.getName() + " " + handle.getDesc());
            boolean isStatic = handle.getTag() == Opcodes.H_GETSTATIC || handle.getTag() == Opcodes.H_PUTSTATIC;
            Ref.Kind kind = isStatic ? Ref.Kind.READ_STATIC : Ref.Kind.READ_FIELD;
            refer(kind, handle.getOwner(), handle.getName(), handle.getDesc());
        } else if (isInlined(handle.getName())) {
            add(INLINE + handle.getOwner() + " " + handle.getName() + " " + handle.getDesc());
            refer(Ref.Kind.INLINE, handle.getOwner(), handle.getName(), handle.getDesc());
        } else {
            add("h" + handle.getTag() + " " + handle.getOwner() + "." + handle.getName() + handle.getDesc());
            boolean isVirtual = handle.getTag() == Opcodes.H_INVOKEVIRTUAL || handle.getTag() == Opcodes.H_INVOKEINTERFACE;
            Ref.Kind kind = isVirtual ? Ref.Kind.VIRTUAL : Ref.Kind.CALL;
            refer(kind, handle.getOwner(), handle.getName(), handle.getDesc());
        }
    }

    /** A constant with its type. */
    static String constant(Object value) {
        if (value instanceof Object[]) {
            StringBuilder all = new StringBuilder("array");
            for (Object part : (Object[]) value) {
                all.append(' ').append(constant(part));
            }
            return all.toString();
        }
        if (value instanceof String) {
            return "String:" + quoted((String) value);
        }
        if (value instanceof Double) {
            return "Double:" + Long.toHexString(Double.doubleToRawLongBits((Double) value));
        }
        if (value instanceof Float) {
            return "Float:" + Integer.toHexString(Float.floatToRawIntBits((Float) value));
        }
        Class<?> type = value.getClass();
        if (type.isArray()) {
            StringBuilder all = new StringBuilder(type.getName());
            for (int at = 0; at < java.lang.reflect.Array.getLength(value); at++) {
                all.append(' ').append(constant(java.lang.reflect.Array.get(value, at)));
            }
            return all.toString();
        }
        return type.getSimpleName() + ":" + value;
    }

    /** A text of the program on one line, without a character that means something in the text of the code. */
    static String quoted(String text) {
        StringBuilder all = new StringBuilder(text.length() + 2).append('"');
        for (int at = 0; at < text.length(); at++) {
            char each = text.charAt(at);
            if (each == '"' || each == '\\' || each == '$' || each < ' ') {
                all.append('\\').append((int) each).append(';');
            } else {
                all.append(each);
            }
        }
        return all.append('"').toString();
    }

    @Override
    public void visitLdcInsn(Object value) {
        constantUsed(value);
        if (value instanceof Type && ((Type) value).getSort() != Type.METHOD) {
            literal = refs.get(refs.size() - 1);
        }
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        isBare &= opcode != Opcodes.IFNULL && opcode != Opcodes.IFNONNULL;
        add("j" + opcode);
        place(label);
    }

    private void place(Label label) {
        used.add(label);
        tokens.add(new Place(label, false));
    }

    @Override
    public void visitLabel(Label label) {
        tokens.add(new Place(label, true));
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
        add("switch " + min + " " + max);
        place(other);
        Arrays.stream(labels).forEach(this::place);
    }

    @Override
    public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
        add("switch " + Arrays.toString(keys));
        place(other);
        Arrays.stream(labels).forEach(this::place);
    }

    @Override
    public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
        add("try " + type);
        if (type != null) {
            refer(Ref.Kind.TYPE, type, "", "");
        }
        place(start);
        place(end);
        place(handler);
    }

    @Override
    public void visitParameter(String parameter, int flags) {
        parameters.add(parameter);
    }

    @Override
    public AnnotationVisitor visitAnnotation(String type, boolean visible) {
        return visible ? AnnotationCode.of(type, "", shape, shapeRefs) : null;
    }

    @Override
    public AnnotationVisitor visitTypeAnnotation(int place, TypePath path, String type, boolean visible) {
        return visible ? AnnotationCode.of(type, " at " + place + " " + path, shape, shapeRefs) : null;
    }

    @Override
    public AnnotationVisitor visitParameterAnnotation(int parameter, String type, boolean visible) {
        return visible ? AnnotationCode.of(type, " of parameter " + parameter, shape, shapeRefs) : null;
    }

    @Override
    public AnnotationVisitor visitAnnotationDefault() {
        return AnnotationCode.of("default", "", shape, shapeRefs);
    }

    /** Of an initializer: its parts, each of which fills a field; itself if they hang together. */
    List<MethodCode> parts() {
        return parts;
    }

    private boolean hangsTogether() {
        for (Cut cut : cuts) {
            // A value that is used once more: the next part would begin in the middle of an expression.
            if (COPY.matcher(String.valueOf(tokens.get(cut.token - 2))).matches()) {
                return true;
            }
        }
        Map<Object, Integer> partOf = new HashMap<>();
        int part = 0;
        for (int at = 0; at < tokens.size(); at++) {
            while (part < cuts.size() && at >= cuts.get(part).token) {
                part++;
            }
            Object token = tokens.get(at);
            Object shared = null;
            if (token instanceof Place) {
                shared = used.contains(((Place) token).label) ? ((Place) token).label : null;
            } else if (((String) token).startsWith("try ")) {
                return true;
            } else if (((String) token).matches("(v\\d+|inc) .*")) {
                shared = ((String) token).split(" ")[1];
            }
            Integer other = shared == null ? null : partOf.putIfAbsent(shared, part);
            if (other != null && other != part) {
                return true;
            }
        }
        return false;
    }

    private void divide() {
        if (cuts.isEmpty() || hangsTogether()) {
            parts.add(this);
            return;
        }
        cuts.add(new Cut(tokens.size(), refs.size(), null));
        int token = 1; // behind the access, which each part has
        int ref = 0;
        for (Cut cut : cuts) {
            MethodCode part = new MethodCode(owner, access, name, desc, signature);
            part.tokens.addAll(tokens.subList(token, cut.token));
            part.refs.addAll(refs.subList(ref, cut.ref));
            part.used.addAll(used);
            part.fills = cut.field;
            part.usesBareObject = usesBareObject;
            part.usesNames = usesNames;
            boolean isEnd = cut.field == null
                    && part.tokens.stream().allMatch(each -> each instanceof Place || END.matcher((String) each).matches());
            if (!isEnd) {
                part.finish();
                parts.add(part);
            }
            token = cut.token;
            ref = cut.ref;
        }
    }

    /**
     * Sorts what a constructor of an inner class keeps of the code around it: releases of the compiler fill these fields
     * in other orders, each with what the constructor got, before anything else runs.
     */
    private void sortCaptured() {
        tokens.removeIf(token -> token instanceof Place && !used.contains(((Place) token).label));
        int begin = 1; // behind the access
        List<Captured> found = new ArrayList<>();
        for (int at = begin; at + 2 < tokens.size() && "v25 0".equals(tokens.get(at))
                && PARAMETER.matcher(String.valueOf(tokens.get(at + 1))).matches()
                && String.valueOf(tokens.get(at + 2)).startsWith("f181 " + owner + ".")
                && CAPTURED.matcher(String.valueOf(tokens.get(at + 2))).matches(); at += 3) {
            int ref = found.size() * 2; // the field and its type
            found.add(new Captured(tokens.subList(at, at + 3), refs.subList(ref, ref + 2)));
        }
        found.sort((one, other) -> one.field().compareTo(other.field()));
        for (int at = 0; at < found.size(); at++) {
            for (int token = 0; token < 3; token++) {
                tokens.set(begin + at * 3 + token, found.get(at).tokens.get(token));
            }
            refs.set(at * 2, found.get(at).refs.get(0));
            refs.set(at * 2 + 1, found.get(at).refs.get(1));
        }
    }

    /** Numbers the places that are used. A method without instructions has no end of its own. */
    void finish() {
        if (name.equals("<clinit>")) {
            divide();
        } else if (name.equals("<init>")) {
            sortCaptured();
        }
        Map<Label, Integer> numbers = new HashMap<>();
        for (Object token : tokens) {
            if (token instanceof Place) {
                Place place = (Place) token;
                if (used.contains(place.label)) {
                    Integer number = numbers.computeIfAbsent(place.label, label -> numbers.size());
                    body.add((place.isTarget ? "at " : "to ") + number);
                }
            } else {
                body.add((String) token);
            }
        }
        tokens.clear();
    }
}
