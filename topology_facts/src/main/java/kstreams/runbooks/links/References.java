package kstreams.runbooks.links;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Every reference of one class that the JVM links, without those of annotations, which it never fails on. */
final class References extends ClassVisitor {
    /** One reference. A class has no name and type of a member; `flow` is null outside code. */
    static final class Reference {
        final Use use;
        final String owner;
        final String name;
        final String type;
        final boolean isInterface;
        final String inMethod;
        final MethodFlow flow;
        final int instruction;
        /** Of a handle or a dynamic constant: the JVM may wrap its error. */
        final boolean isDynamic;

        Reference(Use use, String owner, String name, String type, boolean isInterface, Code code, boolean isDynamic) {
            this.use = use;
            this.owner = owner;
            this.name = name;
            this.type = type;
            this.isInterface = isInterface;
            this.inMethod = code == null ? "" : code.method;
            this.flow = code == null ? null : code.flow;
            this.instruction = code == null ? 0 : code.flow.next();
            this.isDynamic = isDynamic;
        }
    }

    /** A lambda that LambdaMetafactory makes: the interface, and the methods with which it implements that. */
    static final class Lambda {
        final String face;
        final List<String> methods;
        final Reference at;

        Lambda(String face, List<String> methods, Reference at) {
            this.face = face;
            this.methods = methods;
            this.at = at;
        }
    }

    private static final String METAFACTORY = "java/lang/invoke/LambdaMetafactory";
    private static final int FLAG_BRIDGES = 4;
    private static final int FLAG_MARKERS = 2;
    final List<Reference> references = new ArrayList<>();
    final List<Lambda> lambdas = new ArrayList<>();

    References() {
        super(Opcodes.ASM9);
    }

    @Override
    public void visit(int version, int flags, String own, String generic, String above, String[] faces) {
        if (above != null) {
            type(Use.EXTENDS, above, null);
        }
        for (String face : faces == null ? new String[0] : faces) {
            type(Use.IMPLEMENTS, face, null);
        }
    }

    @Override
    public FieldVisitor visitField(int flags, String name, String type, String generic, Object value) {
        types(Use.DECLARES, Type.getType(type), null, false);
        return null;
    }

    @Override
    public MethodVisitor visitMethod(int flags, String name, String type, String generic, String[] thrown) {
        types(Use.DECLARES, Type.getMethodType(type), null, false);
        for (String exception : thrown == null ? new String[0] : thrown) {
            type(Use.DECLARES, exception, null);
        }
        return new Code(name + Names.signature(type));
    }

    private void type(Use use, String name, Code code) {
        type(use, name, code, false);
    }

    private void type(Use use, String name, Code code, boolean isDynamic) {
        String element = Names.element(name);
        if (element != null) {
            references.add(new Reference(use, element, null, null, false, code, isDynamic));
        }
    }

    private void types(Use use, Type type, Code code, boolean isDynamic) {
        if (type.getSort() == Type.METHOD) {
            types(use, type.getReturnType(), code, isDynamic);
            for (Type parameter : type.getArgumentTypes()) {
                types(use, parameter, code, isDynamic);
            }
        } else if (type.getSort() == Type.ARRAY || type.getSort() == Type.OBJECT) {
            type(use, type.getInternalName(), code, isDynamic);
        }
    }

    /** The instructions of one method. */
    private final class Code extends MethodVisitor {
        final MethodFlow flow = new MethodFlow();
        final String method;

        Code(String method) {
            super(Opcodes.ASM9);
            this.method = method;
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
            flow.handler(start, end, handler, type);
            if (type != null) {
                type(Use.CATCHES, type, null);
            }
        }

        @Override
        public void visitLabel(Label label) {
            flow.label(label);
        }

        @Override
        public void visitInsn(int opcode) {
            flow.instruction(opcode);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            flow.instruction();
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
            flow.variable(opcode, variable);
        }

        @Override
        public void visitIincInsn(int variable, int increment) {
            flow.instruction();
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            flow.instruction(opcode, label);
        }

        @Override
        public void visitTableSwitchInsn(int least, int most, Label other, Label... labels) {
            jump(Opcodes.TABLESWITCH, other, labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            jump(Opcodes.LOOKUPSWITCH, other, labels);
        }

        private void jump(int opcode, Label other, Label... labels) {
            Label[] all = Arrays.copyOf(labels, labels.length + 1);
            all[labels.length] = other;
            flow.instruction(opcode, all);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            type(opcode == Opcodes.NEW ? Use.MAKES : Use.NAMES, type, this);
            flow.instruction();
        }

        @Override
        public void visitMultiANewArrayInsn(String type, int dimensions) {
            type(Use.NAMES, type, this);
            flow.instruction();
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String type) {
            Use use = opcode == Opcodes.GETFIELD ? Use.READS : opcode == Opcodes.PUTFIELD ? Use.WRITES
                    : opcode == Opcodes.GETSTATIC ? Use.READS_STATIC : Use.WRITES_STATIC;
            member(use, owner, name, type, false, false);
            flow.instruction();
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type, boolean isInterface) {
            Use use = opcode == Opcodes.INVOKESTATIC ? Use.CALLS_STATIC
                    : opcode == Opcodes.INVOKESPECIAL ? Use.CALLS_SPECIAL : Use.CALLS;
            member(use, owner, name, type, isInterface, false);
            flow.instruction();
        }

        @Override
        public void visitLdcInsn(Object value) {
            constant(value, value instanceof ConstantDynamic);
            flow.instruction();
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String type, Handle bootstrap, Object... arguments) {
            types(Use.NAMES, Type.getMethodType(type), this, true);
            constant(bootstrap, true);
            for (Object argument : arguments) {
                constant(argument, true);
            }
            Type face = Type.getReturnType(type);
            if (bootstrap.getOwner().equals(METAFACTORY) && face.getSort() == Type.OBJECT) {
                lambda(face.getInternalName(), name, arguments);
            }
            flow.instruction();
        }

        private void lambda(String face, String name, Object... arguments) {
            List<String> methods = new ArrayList<>();
            methods.add(name + ((Type) arguments[0]).getDescriptor());
            if (arguments.length > 3) {
                // altMetafactory: flags, then the markers and the bridges that they announce, each after its number
                int flags = (Integer) arguments[3];
                int at = 4;
                if ((flags & FLAG_MARKERS) != 0) {
                    at += 1 + (Integer) arguments[at];
                }
                int bridges = (flags & FLAG_BRIDGES) == 0 ? 0 : (Integer) arguments[at];
                for (int bridge = 1; bridge <= bridges; bridge++) {
                    methods.add(name + ((Type) arguments[at + bridge]).getDescriptor());
                }
            }
            lambdas.add(new Lambda(face, methods, new Reference(Use.LACKS, face, null, null, true, this, true)));
        }

        private void constant(Object value, boolean isDynamic) {
            if (value instanceof Type) {
                types(Use.NAMES, (Type) value, this, isDynamic);
            } else if (value instanceof Handle) {
                handle((Handle) value);
            } else if (value instanceof ConstantDynamic) {
                ConstantDynamic dynamic = (ConstantDynamic) value;
                types(Use.NAMES, Type.getType(dynamic.getDescriptor()), this, true);
                handle(dynamic.getBootstrapMethod());
                for (int at = 0; at < dynamic.getBootstrapMethodArgumentCount(); at++) {
                    constant(dynamic.getBootstrapMethodArgument(at), true);
                }
            }
        }

        private void handle(Handle handle) {
            boolean isField = handle.getTag() <= Opcodes.H_PUTSTATIC;
            types(Use.NAMES, isField ? Type.getType(handle.getDesc()) : Type.getMethodType(handle.getDesc()), this,
                    true);
            member(use(handle.getTag()), handle.getOwner(), handle.getName(), handle.getDesc(), handle.isInterface(),
                    true);
            if (handle.getTag() == Opcodes.H_NEWINVOKESPECIAL) {
                type(Use.MAKES, handle.getOwner(), this, true);
            }
        }

        private Use use(int tag) {
            switch (tag) {
                case Opcodes.H_GETFIELD:
                    return Use.READS;
                case Opcodes.H_GETSTATIC:
                    return Use.READS_STATIC;
                case Opcodes.H_PUTFIELD:
                    return Use.WRITES;
                case Opcodes.H_PUTSTATIC:
                    return Use.WRITES_STATIC;
                case Opcodes.H_INVOKESTATIC:
                    return Use.CALLS_STATIC;
                case Opcodes.H_INVOKESPECIAL:
                case Opcodes.H_NEWINVOKESPECIAL:
                    return Use.CALLS_SPECIAL;
                default:
                    return Use.CALLS;
            }
        }

        private void member(Use use, String owner, String name, String type, boolean isInterface, boolean isDynamic) {
            String element = Names.element(owner);
            if (owner.startsWith("[")) {
                type(Use.NAMES, owner, this, isDynamic); // a method of java.lang.Object
            } else if (element != null) {
                references.add(new Reference(use, element, name, type, isInterface, this, isDynamic));
            }
        }
    }
}
