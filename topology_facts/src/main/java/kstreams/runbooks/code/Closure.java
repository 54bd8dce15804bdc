package kstreams.runbooks.code;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * The code that some objects of the program run, as one text in an order that depends on that code alone.
 *
 * It begins with the methods of the objects and follows what each method refers to, inside the program. A virtual call
 * reaches every override. A type whose objects the code sees counts with each of its methods that a library may call. If
 * the code calls a library beyond the JDK and Kafka, which may read objects by reflection, such a type counts as a
 * whole. An object that keeps a class of the program, as most formats do, has records of that class, or of those that its
 * code names. Objects count by the fields that the code reads.
 */
final class Closure {
    // Of every class, called by the library with objects of which the code shows no class.
    private static final Set<String> OF_ANY_OBJECT =
            new HashSet<>(Arrays.asList("equals", "hashCode", "toString", "compareTo"));
    private static final Pattern TYPE = Pattern.compile("L([\\w/$]+)");
    // Parameters of these say nothing about records.
    private static final Pattern NO_RECORDS = Pattern.compile("equals|configure|onInvalidTimestamp");
    // A type variable, or any type, but for what a method returns.
    private static final Pattern VARIABLE = Pattern.compile("(^|[(;<+\\-])\\[*T\\w+;|<\\*|;\\*");
    private static final int MOST_METHODS = 20_000;
    private final Border border;
    private final StringBuilder text = new StringBuilder();
    private final Map<MethodCode, Integer> reached = new LinkedHashMap<>();
    private final Deque<MethodCode> open = new ArrayDeque<>();
    private final Set<String> mentioned = new LinkedHashSet<>();
    private final Set<String> included = new LinkedHashSet<>();
    private final Set<String> below = new HashSet<>();
    private final Set<String> deep = new HashSet<>();
    private final Set<String> wholes = new HashSet<>();
    private final Set<String> initialized = new HashSet<>();
    private final Set<String> libraryClasses = new LinkedHashSet<>();
    private final Set<String> fieldsRead = new HashSet<>();
    private final Footprint footprint = new Footprint(reached, fieldsRead);
    private final State state;
    /** The methods by name, each with a digest of its own. */
    private final List<String> names = new ArrayList<>();
    private final Set<Integer> versions = new TreeSet<>();
    private String where = "the object";
    /** The name of the method whose references are followed. */
    private String method = "";
    private String opaque;
    private boolean callsOut;
    private boolean usesNames;
    /** Classes of libraries that records have. */
    private final Set<String> records = new TreeSet<>();
    /** Names of parameters: a library may ask for them, if the compiler has kept them. */
    private final List<String> parameters = new ArrayList<>();
    private boolean takesAny;
    /** Whether an object keeps a class of the program: the class of the records that it has no type for. */
    private boolean keepsClass;

    Closure(Border border, ClassLoader loader) {
        this.border = border;
        this.state = new State(this, border, loader);
    }

    /** Adds an object and everything that it runs. */
    void add(Object object) throws NotProvable {
        write("root " + state.value(object));
        run();
    }

    /** What else has to be equal. */
    void write(String line) {
        text.append(line).append('\n');
    }

    private void run() throws NotProvable {
        int before;
        do {
            before = text.length() + open.size();
            while (!open.isEmpty()) {
                body(open.remove());
            }
            state.readFields(fieldsRead, wholes);
            if (!libraryClasses.isEmpty()) {
                for (String provided : border.provided()) {
                    mention(provided);
                }
                for (String type : new ArrayList<>(keepsClass ? mentioned : included)) {
                    whole(type, false);
                }
            }
            takeAny();
        } while (text.length() + open.size() != before);
    }

    /** Records of a class that the code does not show: a library may see any of their fields, the JDK four methods. */
    private void takeAny() throws NotProvable {
        if (opaque == null || keepsClass) {
            return;
        }
        if (!libraryClasses.isEmpty()) {
            throw new NotProvable(opaque + ", and class " + Names.shown(libraryClasses.iterator().next())
                    + " of a library may read any of it");
        }
        if (callsOut && !takesAny) {
            takesAny = true;
            for (String type : border.all()) {
                for (MethodCode method : border.code(type).methods.values()) {
                    if (OF_ANY_OBJECT.contains(method.name) && !method.is(Opcodes.ACC_STATIC)) {
                        reach(method);
                    }
                }
            }
        }
    }

    String digest() throws NotProvable {
        for (String type : records) {
            // Another release of it writes other records of the same code, as another class of the program would.
            Border.Library library = border.libraryOf(type);
            String line = library.name + CodeDigest.IN + "(records) " + library.digest.substring(0, 8);
            if (!names.contains(line)) {
                names.add(line);
                write("records of " + line);
            }
        }
        for (Border.Library library : libraries().values()) {
            if (library.readsParameters) {
                write(String.join("\n", parameters));
                break;
            }
        }
        return sha(usesNames ? text.toString() : renamed(text.toString()), 8);
    }

    /** The methods that were reached, each with a digest of its own instructions. */
    Collection<String> methods() {
        return new TreeSet<>(names);
    }

    Map<String, Border.Library> libraries() throws NotProvable {
        return border.libraries(libraryClasses);
    }

    /** The releases of Java for which the compiler wrote the classes. */
    Collection<Integer> versions() {
        return versions;
    }

    /** Whether a library writes and reads records of a class that no object and no code shows. */
    boolean hidesRecords() {
        return !libraryClasses.isEmpty() && mentioned.isEmpty() && !keepsClass;
    }

    /** A class that an object keeps. */
    void keeps(String name) throws NotProvable {
        keepsClass |= border.owns(name);
        literal(name);
        if (border.isLibrary(name)) {
            records.add(name);
        }
    }

    Footprint footprint() {
        return footprint;
    }

    /** An object that other code may have too. */
    void holds(Object object) {
        footprint.held.add(object);
    }

    void library(String name) {
        libraryClasses.add(name);
    }

    // What methods refer to.

    private void body(MethodCode method) throws NotProvable {
        where = shown(method).replace(CodeDigest.IN, '.');
        this.method = method.name;
        if (method.is(Opcodes.ACC_NATIVE)) {
            throw new NotProvable("method " + where + " is native");
        }
        StringBuilder tokens = new StringBuilder();
        List<Ref> refs = new ArrayList<>();
        expand(method, tokens, refs, new HashSet<>());
        String name = method.isInlined() ? "lambda " + reached.get(method) : method.owner + "." + method.name;
        write("method " + name + method.desc);
        write(tokens.toString());
        name(method, tokens.toString());
        types(method.desc, method.signature, false);
        follow(refs);
    }

    private void name(MethodCode method, String tokens) throws NotProvable {
        versions.add(border.code(method.owner).version);
        names.add(shown(method) + " " + sha(renamed(tokens), 4));
    }

    private static String shown(MethodCode method) {
        String name = method.name;
        if (name.startsWith("lambda$")) {
            name = name.substring("lambda$".length()).replaceFirst("\\$\\d+$", "") + " (lambda)";
        } else if (name.startsWith("<")) {
            name = name.equals("<init>") ? "new" : "static";
        }
        return Names.shown(method.owner).replaceFirst("\\$\\d+$", " (anonymous)") + CodeDigest.IN + name;
    }

    private void expand(MethodCode method, StringBuilder tokens, List<Ref> refs, Set<MethodCode> within)
            throws NotProvable {
        within.add(method);
        usesNames |= method.usesNames;
        // A generic class of the program casts where it is used; what is made by a library shows its class by a cast alone.
        if (method.usesBareObject && opaque == null) {
            opaque = "method " + shown(method).replace(CodeDigest.IN, '.') + " uses objects of any class";
        }
        for (String token : method.body) {
            if (token.charAt(0) != MethodCode.INLINE) {
                footprint.stores(method.name, token);
                tokens.append(token).append('\n');
                continue;
            }
            MethodCode inner = inlined(token.substring(1));
            if (inner == null || within.contains(inner)) {
                tokens.append("call ").append(token.substring(1)).append('\n');
            } else {
                tokens.append("{ ").append(inner.desc).append('\n');
                expand(inner, tokens, new ArrayList<>(), within);
                tokens.append("}\n");
            }
        }
        for (Ref ref : method.refs) {
            MethodCode inner = ref.kind == Ref.Kind.INLINE ? inlined(ref.owner + " " + ref.name + " " + ref.desc) : null;
            if (inner != null && !within.contains(inner)) {
                types(inner.desc, null, false);
                expand(inner, new StringBuilder(), refs, within);
            } else {
                refs.add(ref);
            }
        }
        within.remove(method);
    }

    /** The method that the compiler made; null for one of another name, which counts by its name. */
    private MethodCode inlined(String token) throws NotProvable {
        String[] parts = token.split(" ");
        MethodCode found = border.owns(parts[0]) ? border.code(parts[0]).methods.get(parts[1] + parts[2]) : null;
        return found != null && found.isInlined() ? found : null;
    }

    private void follow(List<Ref> refs) throws NotProvable {
        for (Ref ref : refs) {
            switch (ref.kind) {
                case INLINE:
                case CALL:
                    call(ref, false);
                    break;
                case VIRTUAL:
                    call(ref, true);
                    break;
                case READ_FIELD:
                    readField(ref);
                    break;
                case READ_STATIC:
                    readStatic(ref);
                    break;
                case WRITE_FIELD:
                    writeField(ref);
                    break;
                case CAST:
                    mention(plain(ref.owner));
                    mentionBelow(plain(ref.owner));
                    break;
                case TYPE:
                    mention(plain(ref.owner));
                    break;
                default:
                    literal(plain(ref.owner));
            }
        }
    }

    /** A method that the class of a lambda calls: what it implements, or how it boxes a value. */
    void implementation(Ref ref) throws NotProvable {
        MethodCode target = border.owns(ref.owner) ? resolve(ref.owner, ref.key()) : null;
        if (target == null) {
            write("calls " + ref.owner + "." + ref.key());
            types("(L" + ref.owner + ";)V", null, true);
            types(ref.desc, null, true);
            call(ref, false);
            return;
        }
        types(target.desc, target.signature, true);
        if (target.isInlined()) {
            reach(target);
            write("lambda " + reached.get(target) + " " + target.desc);
        } else {
            write("calls " + ref.owner + "." + ref.key());
            boolean isFixed = target.is(Opcodes.ACC_STATIC) || target.is(Opcodes.ACC_PRIVATE) || ref.name.equals("<init>");
            call(ref, !isFixed);
        }
    }

    private void call(Ref ref, boolean isVirtual) throws NotProvable {
        if (ref.owner.startsWith("[")) {
            return;
        }
        if (!border.owns(ref.owner)) {
            beyond(ref.owner, ref.name, ref.desc);
            return;
        }
        if (isVirtual || ref.name.equals("<init>")) {
            mention(ref.owner);
        } else {
            initialize(ref.owner);
        }
        if (ref.name.equals("<init>")) {
            initialize(ref.owner);
        }
        MethodCode target = resolve(ref.owner, ref.key());
        if (target == null) {
            for (String above : librariesAbove(ref.owner, new LinkedHashSet<>())) {
                beyond(above, ref.name, ref.desc);
            }
        } else {
            reach(target);
        }
        if (isVirtual) {
            for (String below : allBelow(ref.owner, new LinkedHashSet<>())) {
                MethodCode override = resolve(below, ref.key());
                if (override != null) {
                    reach(override);
                }
            }
        }
    }

    private void reach(MethodCode method) throws NotProvable {
        if (reached.putIfAbsent(method, reached.size()) == null) {
            open.add(method);
            if (reached.size() > MOST_METHODS) {
                throw new NotProvable("it reaches more than " + MOST_METHODS + " methods");
            }
        }
    }

    /** The numbers of constants in a switch: the compiler keeps those of all switches of a class together. */
    private boolean switches(ClassCode code, String field) throws NotProvable {
        Map<String, String> numbers = code.initializer.numbers(field);
        for (String constant : numbers.keySet()) {
            mention(constant.substring("f178 ".length(), constant.lastIndexOf('.', constant.lastIndexOf(" L"))));
        }
        if (!numbers.isEmpty()) {
            write("switch " + field + " " + numbers);
        }
        return !numbers.isEmpty();
    }

    /** What runs when a class is first used, but for what only fills fields that this code does not read. */
    private void initialize(String type) throws NotProvable {
        for (String each = type; border.owns(each) && initialized.add(each); each = border.code(each).above) {
            List<MethodCode> parts = border.code(each).initializer.all();
            for (MethodCode part : parts) {
                if (parts.size() == 1 && part.fills == null && !border.code(each).fields.values().stream()
                        .allMatch(Initializer::isSwitchMap) || hasEffect(part, part, new HashSet<>())) {
                    reach(part);
                }
            }
        }
    }

    /** Whether some code may change what is not its own: static fields of other classes, or something beyond. */
    private boolean hasEffect(MethodCode method, MethodCode part, Set<MethodCode> seen) throws NotProvable {
        if (!seen.add(method)) {
            return false;
        }
        for (Ref ref : method.refs) {
            boolean isCall = ref.kind == Ref.Kind.CALL || ref.kind == Ref.Kind.VIRTUAL || ref.kind == Ref.Kind.INLINE;
            if (ref.kind == Ref.Kind.READ_STATIC && usesOthers(ref, part)) {
                return true;
            }
            if (isCall && border.owns(ref.owner)) {
                for (MethodCode target : targets(ref)) {
                    if (hasEffect(target, part, seen)) {
                        return true;
                    }
                }
            } else if (isCall && !border.isLogger(ref.owner) && (sets(ref)
                    || method == part && ref.desc.endsWith(")V") && !ref.name.equals("<init>"))) {
                return true;
            }
        }
        return false;
    }

    private static boolean sets(Ref ref) {
        return ref.owner.equals("java/lang/System") && ref.name.matches("setProperty|setProperties|getProperties|clearProperty");
    }

    private boolean usesOthers(Ref ref, MethodCode part) throws NotProvable {
        ClassCode declaring = ref.name.isEmpty() ? null : declaring(ref.owner, ref.name);
        if (declaring == null) {
            return ref.name.isEmpty() && !ref.owner.equals(part.owner);
        }
        ClassCode.Field field = declaring.fields.get(ref.name);
        boolean isFixed = field.is(Opcodes.ACC_ENUM) || field.desc.length() == 1
                || field.desc.equals("Ljava/lang/String;") || field.desc.equals("Ljava/lang/Class;")
                || field.name.startsWith("$") || border.isLogger(plain(Type.getType(field.desc).getInternalName()));
        return !isFixed && !declaring.name.equals(part.owner);
    }

    private Collection<MethodCode> targets(Ref ref) throws NotProvable {
        Set<MethodCode> found = new LinkedHashSet<>();
        found.add(resolve(ref.owner, ref.key()));
        if (ref.kind == Ref.Kind.VIRTUAL) {
            for (String below : allBelow(ref.owner, new LinkedHashSet<>())) {
                found.add(resolve(below, ref.key()));
            }
        }
        found.remove(null);
        return found;
    }

    /** A call or a static field of the JDK, of Kafka, of a logger, or of a library. */
    private void beyond(String owner, String member, String desc) throws NotProvable {
        if (Names.leaves(owner, member, desc)) {
            String used = Names.shown(owner) + (member.equals("<init>") ? "" : "." + member);
            throw new NotProvable("method " + where + " uses " + used
                    + ", which reads more than code");
        }
        if (border.isLogger(owner)) {
            Type result = desc.startsWith("(") ? Type.getReturnType(desc) : Type.VOID_TYPE;
            if (result != Type.VOID_TYPE && result != Type.BOOLEAN_TYPE
                    && (result.getSort() != Type.OBJECT || !border.isLogger(result.getInternalName()))) {
                throw new NotProvable("method " + where + " uses what " + Names.shown(owner) + "." + member
                        + " returns, and loggers are left out");
            }
            return;
        }
        if (border.isLibrary(owner)) {
            libraryClasses.add(owner);
            footprint.callsLibrary(method, owner, member);
        } else if (border.isKafka(owner)) {
            callsOut |= OF_ANY_OBJECT.contains(member);
        } else if (Names.isJdk(owner) || owner.startsWith("javax/")) {
            footprint.calls(method, owner, member);
            callsOut |= OF_ANY_OBJECT.contains(member) && !Names.isShown(owner);
            for (Type type : desc.startsWith("(") ? Type.getArgumentTypes(desc) : new Type[0]) {
                callsOut |= type.getSort() >= Type.ARRAY && !isShown(plain(type.getInternalName()));
            }
        } else {
            throw new NotProvable("class " + Names.shown(owner) + ", which method " + where
                    + " uses, is not on the class path");
        }
    }

    private boolean isShown(String type) {
        return type.isEmpty() || Names.isShown(type) || border.owns(type);
    }

    // Fields.

    private void readField(Ref ref) throws NotProvable {
        if (!border.owns(ref.owner) || ref.name.isEmpty()) {
            return;
        }
        ClassCode declaring = declaring(ref.owner, ref.name);
        if (declaring != null && fieldsRead.add(declaring.name + "." + ref.name)) {
            ClassCode.Field field = declaring.fields.get(ref.name);
            types(field.desc, field.signature, !field.is(Opcodes.ACC_SYNTHETIC));
        }
    }

    private void writeField(Ref ref) throws NotProvable {
        ClassCode declaring = border.owns(ref.owner) ? declaring(ref.owner, ref.name) : null;
        if (declaring != null) {
            footprint.writes(method, declaring.name + "." + ref.name);
        }
    }

    private ClassCode declaring(String owner, String field) throws NotProvable {
        if (!border.owns(owner)) {
            return null;
        }
        ClassCode code = border.code(owner);
        if (code.fields.containsKey(field)) {
            return code;
        }
        for (String face : code.interfaces) {
            ClassCode found = declaring(face, field);
            if (found != null) {
                return found;
            }
        }
        return code.above == null ? null : declaring(code.above, field);
    }

    private void readStatic(Ref ref) throws NotProvable {
        ClassCode declaring = ref.name.isEmpty() ? null : declaring(ref.owner, ref.name);
        if (declaring == null) {
            if (!border.owns(ref.owner)) {
                beyond(ref.owner, ref.name, "");
            } else if (!ref.name.isEmpty()) {
                for (String above : librariesAbove(ref.owner, new LinkedHashSet<>())) {
                    beyond(above, ref.name, "");
                }
            }
            return;
        }
        ClassCode.Field field = declaring.fields.get(ref.name);
        if (field.is(Opcodes.ACC_ENUM)) {
            initialize(declaring.name);
            mention(declaring.name);
            return;
        }
        if (field.name.equals("$assertionsDisabled") || border.isLogger(plain(Type.getType(field.desc).getInternalName()))) {
            return;
        }
        if (!field.is(Opcodes.ACC_FINAL)) {
            throw new NotProvable("method " + where + " reads the static field " + Names.shown(declaring.name) + "."
                    + field.name + ", which is not final");
        }
        initialize(declaring.name);
        if (Initializer.isSwitchMap(field) && switches(declaring, field.name)) {
            return;
        }
        for (MethodCode part : border.code(declaring.name).initializer.of(field.name)) {
            reach(part);
        }
        state.readStatic(declaring.name, field.name);
    }

    // Types.

    /** A type whose objects the code sees: any class below it too. */
    void mention(String type) throws NotProvable {
        if (border.owns(type) && mentioned.add(type)) {
            include(type);
            for (String below : allBelow(type, new LinkedHashSet<>())) {
                include(below);
            }
        }
    }

    /** A type of the JDK or of a library: objects that have it may be of a class of the program. */
    private void mentionBelow(String type) throws NotProvable {
        if (!type.isEmpty() && !type.equals("java/lang/Object") && !border.owns(type) && !border.isKafka(type)
                && !Names.isShown(type) && below.add(type)) {
            for (String each : allBelow(type, new LinkedHashSet<>())) {
                mention(each);
            }
        }
    }

    /** A class of an object: what a library may call of it, and the types of its fields. */
    void include(String type) throws NotProvable {
        if (!border.owns(type) || !included.add(type)) {
            return;
        }
        ClassCode code = border.code(type);
        write("type " + type + " extends " + code.above + " " + code.interfaces);
        if (code.isEnum()) {
            state.readConstants(type);
        }
        for (String above : above(code)) {
            include(above);
            if (border.isLibrary(above)) {
                libraryClasses.add(above);
            }
        }
        types("()V", code.signature, false);
        Set<String> overridable = new TreeSet<>(border.overridable("java/lang/Object"));
        for (String library : librariesAbove(type, new LinkedHashSet<>())) {
            overridable.addAll(border.overridable(library));
        }
        for (String key : overridable) {
            MethodCode method = resolve(type, key);
            if (method != null && !method.is(Opcodes.ACC_STATIC)) {
                reach(method);
                for (MethodCode taking : method.is(Opcodes.ACC_BRIDGE) ? behind(method) : Collections.singleton(method)) {
                    types(taking.desc, taking.signature, !NO_RECORDS.matcher(method.name).matches());
                }
            }
        }
    }

    /** What a bridge may call: the method of the source, whose types the compiler has erased in the bridge. */
    private Collection<MethodCode> behind(MethodCode bridge) throws NotProvable {
        int parameters = Type.getArgumentTypes(bridge.desc).length;
        List<MethodCode> found = new ArrayList<>();
        for (MethodCode method : border.code(bridge.owner).methods.values()) {
            if (method.name.equals(bridge.name) && !method.is(Opcodes.ACC_BRIDGE)
                    && Type.getArgumentTypes(method.desc).length == parameters) {
                found.add(method);
            }
        }
        return found.isEmpty() ? Collections.singleton(bridge) : found; // a bridge to a class above
    }

    /** A class that a library reads by reflection: all of it, and {@code withBelow} all of each class below it. */
    private void whole(String type, boolean withBelow) throws NotProvable {
        if (!border.owns(type)) {
            return;
        }
        if (withBelow && deep.add(type)) {
            for (String below : allBelow(type, new LinkedHashSet<>())) {
                whole(below, true);
            }
        }
        if (!wholes.add(type)) {
            return;
        }
        include(type);
        ClassCode code = border.code(type);
        String user = where;
        where = "class " + Names.shown(type);
        versions.add(code.version);
        String shape = String.join("\n", strings(code.shape));
        write("shape " + type + "\n" + shape);
        names.add(Names.shown(type) + CodeDigest.IN + "(shape) " + sha(renamed(shape), 4));
        parameters.addAll(code.parameters());
        if (!code.above.equals("java/lang/Object") || code.interfaces.stream().anyMatch(face -> !border.isKafka(face))) {
            // A library may write the name of a class: that of an anonymous one has a number.
            write("named " + MethodCode.quoted(type));
        }
        whole(type.substring(0, type.lastIndexOf('/') + 1) + "package-info", false);
        for (String above : above(code)) {
            whole(above, false);
        }
        for (ClassCode.Field field : code.fields.values()) {
            if (!field.is(Opcodes.ACC_SYNTHETIC)) {
                types(field.desc, field.signature, !field.is(Opcodes.ACC_STATIC));
                for (String part : typesIn(field.signature == null ? field.desc : field.signature)) {
                    whole(part, true);
                }
            }
        }
        follow(code.shapeRefs);
        initialize(type);
        for (MethodCode method : code.methods.values()) {
            if (mayBeCalled(method)) {
                reach(method);
                if (!method.shape.isEmpty()) {
                    write("shape " + type + "." + method.name + method.desc + "\n"
                            + String.join("\n", strings(method.shape)));
                }
                follow(method.shapeRefs);
            }
        }
        where = user;
    }

    /** Whether a library may call a method of a class that it reads: not what only the code of the class calls. */
    private static boolean mayBeCalled(MethodCode method) {
        if (method.isInlined() || method.name.equals("<clinit>")) {
            return false;
        }
        boolean makesOne = Type.getArgumentTypes(method.desc).length == 1
                && method.desc.endsWith(")L" + method.owner + ";");
        boolean isOpen = method.is(Opcodes.ACC_STATIC) ? makesOne : !method.is(Opcodes.ACC_PRIVATE);
        return isOpen || method.name.equals("<init>") || !method.shapeRefs.isEmpty() || method.isAnnotated();
    }

    /** A class literal, or a class that an object keeps: what it describes. */
    void literal(String type) throws NotProvable {
        whole(type, true);
        if (border.isLibrary(type)) {
            libraryClasses.add(type);
        }
    }

    private static List<String> strings(List<Object> tokens) {
        List<String> found = new ArrayList<>();
        tokens.forEach(token -> found.add(String.valueOf(token)));
        return found;
    }

    /** The types of a descriptor; {@code areRecords}: objects of them come from outside of this code. */
    private void types(String desc, String signature, boolean areRecords) throws NotProvable {
        String all = signature == null ? desc : signature;
        for (String part : typesIn(signature == null ? desc : desc + signature)) {
            mention(part);
            if (areRecords) {
                mentionBelow(part);
            }
        }
        for (String part : typesIn(all)) {
            if (areRecords && border.isLibrary(part)) {
                records.add(part);
            }
            boolean hides = !isShown(part) && (part.equals("java/lang/Object")
                    || (signature == null && (Names.isJdk(part) || border.isKafka(part))));
            if (areRecords && hides && opaque == null && !isResult(desc, part)) {
                opaque = "objects of class " + Names.shown(part) + " may be of any class of the program";
            }
        }
        if (areRecords && opaque == null && signature != null && VARIABLE.matcher(signature).find()) {
            opaque = "objects of a type variable may be of any class of the program";
        }
    }

    /** Whether a type is only what a method returns: the code itself makes it. */
    private static boolean isResult(String desc, String part) {
        return desc.startsWith("(") && !desc.substring(0, desc.indexOf(')')).contains("L" + part + ";");
    }

    private static List<String> typesIn(String desc) {
        List<String> found = new ArrayList<>();
        Matcher names = TYPE.matcher(desc);
        while (names.find()) {
            found.add(names.group(1));
        }
        return found;
    }

    /** The type of the parts of an array; empty for a number or a flag. */
    private static String plain(String type) {
        if (!type.startsWith("[")) {
            return type;
        }
        int begin = type.lastIndexOf('[') + 1;
        return type.charAt(begin) == 'L' ? type.substring(begin + 1, type.length() - 1) : "";
    }

    private static List<String> above(ClassCode code) {
        List<String> found = new ArrayList<>(code.interfaces);
        if (code.above != null) {
            found.add(0, code.above);
        }
        return found;
    }

    /** The classes and interfaces beyond the program that a class extends, also through others. */
    private Set<String> librariesAbove(String type, Set<String> found) throws NotProvable {
        for (String above : above(border.code(type))) {
            if (border.owns(above)) {
                librariesAbove(above, found);
            } else {
                found.add(above);
            }
        }
        return found;
    }

    private Set<String> allBelow(String type, Set<String> found) throws NotProvable {
        for (String below : border.below(type)) {
            if (found.add(below)) {
                allBelow(below, found);
            }
        }
        return found;
    }

    private MethodCode resolve(String owner, String key) throws NotProvable {
        for (String type = owner; type != null && border.owns(type); type = border.code(type).above) {
            MethodCode method = border.code(type).methods.get(key);
            if (method != null) {
                return method;
            }
        }
        return ofInterfaces(owner, key);
    }

    private MethodCode ofInterfaces(String owner, String key) throws NotProvable {
        for (String type = owner; type != null && border.owns(type); type = border.code(type).above) {
            for (String face : border.code(type).interfaces) {
                MethodCode method = border.owns(face) ? border.code(face).methods.get(key) : null;
                method = method == null && border.owns(face) ? ofInterfaces(face, key) : method;
                if (method != null) {
                    return method;
                }
            }
        }
        return null;
    }

    /** The text with numbers of anonymous classes in the order in which it has them. */
    private String renamed(String all) {
        Map<String, Integer> numbers = new HashMap<>();
        StringBuilder found = new StringBuilder(all.length());
        int done = 0;
        for (int at = all.indexOf('$'); at >= 0; at = all.indexOf('$', at + 1)) {
            int end = at + 1;
            while (end < all.length() && Character.isDigit(all.charAt(end))) {
                end++;
            }
            if (end == at + 1 || (end < all.length() && isOfName(all.charAt(end)))) {
                continue;
            }
            int begin = at;
            while (begin > done && isOfName(all.charAt(begin - 1))) {
                begin--;
            }
            String name = all.substring(begin, end);
            String type = border.owns(name) ? name : name.substring(1); // behind the L of a descriptor
            if (border.owns(type)) {
                found.append(all, done, at).append("$#").append(numbers.computeIfAbsent(type, one -> numbers.size()));
                done = end;
            }
        }
        return found.append(all, done, all.length()).toString();
    }

    private static boolean isOfName(char one) {
        return Character.isLetterOrDigit(one) || one == '_' || one == '/' || one == '$';
    }

    static String sha(String of, int bytes) {
        return Border.sha(of, bytes);
    }
}
