package kstreams.runbooks.code;

import java.util.List;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Writes the values of an annotation, in their order, and the classes that it names. */
final class AnnotationCode extends AnnotationVisitor {
    // What the Kotlin compiler writes of the whole class: each change of any of its members.
    private static final String OF_KOTLIN = "Lkotlin/Metadata;";
    private final List<Object> tokens;
    private final List<Ref> refs;

    private AnnotationCode(List<Object> tokens, List<Ref> refs) {
        super(Opcodes.ASM9);
        this.tokens = tokens;
        this.refs = refs;
    }

    /** A visitor that adds to both lists; null for an annotation that is no part of the program. */
    static AnnotationVisitor of(String desc, String where, List<Object> tokens, List<Ref> refs) {
        if (desc.equals(OF_KOTLIN)) {
            return null;
        }
        tokens.add("@" + desc + where);
        if (desc.startsWith("L")) { // it may have annotations of its own, and values by default
            refs.add(new Ref(Ref.Kind.LITERAL, Type.getType(desc).getInternalName(), "", ""));
        }
        return new AnnotationCode(tokens, refs);
    }

    @Override
    public void visit(String name, Object value) {
        if (value instanceof Type) {
            refs.add(new Ref(Ref.Kind.LITERAL, ((Type) value).getInternalName(), "", "")); // without an array
        }
        tokens.add(name + "=" + MethodCode.constant(value));
    }

    @Override
    public void visitEnum(String name, String desc, String value) {
        tokens.add(name + "=" + desc + value);
        refs.add(new Ref(Ref.Kind.LITERAL, Type.getType(desc).getInternalName(), "", ""));
    }

    @Override
    public AnnotationVisitor visitAnnotation(String name, String desc) {
        tokens.add(name + "=@" + desc);
        refs.add(new Ref(Ref.Kind.LITERAL, Type.getType(desc).getInternalName(), "", ""));
        return this;
    }

    @Override
    public AnnotationVisitor visitArray(String name) {
        tokens.add(name + "[");
        return this;
    }

    @Override
    public void visitEnd() {
        tokens.add("]");
    }
}
