package domains;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import org.apache.kafka.common.errors.SerializationException;

/** A record from the text of its fields. */
final class Fields {
    private Fields() {}

    static <T extends Record> T of(Class<T> type, String[] values) {
        Class<?>[] types = Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        if (types.length != values.length) {
            throw new SerializationException(values.length + " fields for " + type.getSimpleName());
        }
        Object[] parsed = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            parsed[i] = parsed(types[i], values[i]);
        }
        try {
            return type.getDeclaredConstructor(types).newInstance(parsed);
        } catch (ReflectiveOperationException failure) {
            throw new SerializationException(failure);
        }
    }

    private static Object parsed(Class<?> type, String value) {
        if (type == long.class) {
            return Long.parseLong(value);
        }
        if (type == double.class) {
            return Double.parseDouble(value);
        }
        return value;
    }
}
