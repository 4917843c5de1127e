package dev.hearth;

import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.List;

/** The direct memory of a session's runs: the caller's own where it is direct, else copies of what it gives. */
final class TensorMemory {
  private ByteBuffer[] inputCopies = {}; // kept from run to run; null where none was needed
  private ByteBuffer[] outputCopies = {};

  /** Runs once; {@code null} in {@code wanted} is an output that is not wanted. Returns null, for NativeHandle. */
  Void run(long session, List<TensorInfo> inputs, List<?> given, List<TensorInfo> outputs, List<?> wanted) {
    checkCount(inputs, given, "inputs");
    checkCount(outputs, wanted, "outputs");
    for (int k = 0; k < given.size(); ++k) check(inputs.get(k), "input", given.get(k));
    for (int k = 0; k < wanted.size(); ++k) {
      if (wanted.get(k) != null) check(outputs.get(k), "output", wanted.get(k));
    }
    inputCopies = Arrays.copyOf(inputCopies, inputs.size());
    outputCopies = Arrays.copyOf(outputCopies, outputs.size());
    ByteBuffer[] from = memory(inputs, given, inputCopies);
    ByteBuffer[] to = memory(outputs, wanted, outputCopies);
    for (int k = 0; k < from.length; ++k) {
      if (from[k] == inputCopies[k]) copy(inputs.get(k), given.get(k), from[k], true);
    }
    Native.run(session, from, to);
    for (int k = 0; k < to.length; ++k) {
      if (to[k] == outputCopies[k] && wanted.get(k) != null) copy(outputs.get(k), wanted.get(k), to[k], false);
    }
    return null;
  }

  static ByteBuffer allocate(TensorInfo tensor) {
    if (tensor.byteSize() > Integer.MAX_VALUE) {
      throw new HearthException(
          HearthException.Code.UNSUPPORTED, tensor + " has more bytes than a Java buffer can hold");
    }
    return ByteBuffer.allocateDirect((int) tensor.byteSize());
  }

  private static ByteBuffer[] memory(List<TensorInfo> tensors, List<?> values, ByteBuffer[] copies) {
    ByteBuffer[] all = new ByteBuffer[tensors.size()];
    for (int k = 0; k < all.length; ++k) {
      Object value = values.get(k);
      if (value instanceof ByteBuffer && ((ByteBuffer) value).isDirect()) {
        all[k] = ((ByteBuffer) value).slice();
        continue;
      }
      if (copies[k] == null || copies[k].capacity() != tensors.get(k).byteSize()) copies[k] = allocate(tensors.get(k));
      all[k] = copies[k];
    }
    return all;
  }

  private static void checkCount(List<TensorInfo> tensors, List<?> values, String kind) {
    if (values.size() == tensors.size()) return;
    throw HearthException.invalid("the model has %d %s, %d were given: %s", tensors.size(), kind, values.size(), tensors);
  }

  /** Throws unless the value has the tensor's type and size. */
  private static void check(TensorInfo tensor, String kind, Object value) {
    if (value == null) throw HearthException.invalid("%s %s was not given", kind, tensor);
    long elements = tensor.byteSize() / tensor.type().bytes;
    if (value instanceof ByteBuffer) {
      ByteBuffer buffer = (ByteBuffer) value;
      if (buffer.order() != ByteOrder.nativeOrder() && tensor.type().bytes > 1) {
        throw HearthException.invalid(
            "the buffer for %s %s is not in native byte order: call order(ByteOrder.nativeOrder())", kind, tensor);
      }
      checkSize(tensor, kind, "bytes", tensor.byteSize(), buffer.remaining());
    } else if (value instanceof Buffer) {
      if (tensor.type().javaType != typeOf((Buffer) value)) throw wrongType(tensor, kind, value);
      checkSize(tensor, kind, "elements", elements, ((Buffer) value).remaining());
    } else if (value instanceof Object[]) {
      checkDimensions(tensor, kind, value, 0);
    } else if (value.getClass().isArray()) {
      checkType(tensor, kind, value);
      checkSize(tensor, kind, "elements", elements, Array.getLength(value));
    } else {
      throw wrongType(tensor, kind, value);
    }
    if (kind.equals("output") && value instanceof Buffer && ((Buffer) value).isReadOnly()) {
      throw HearthException.invalid("the buffer for %s %s can only be read", kind, tensor);
    }
  }

  private static void checkSize(TensorInfo tensor, String kind, String what, long wanted, long given) {
    if (wanted == given) return;
    throw HearthException.invalid("%s %s has %d %s, the memory for it %d", kind, tensor, wanted, what, given);
  }

  private static HearthException wrongType(TensorInfo tensor, String kind, Object value) {
    return HearthException.invalid(
        "%s %s takes %s[], flat or with its dimensions, or a ByteBuffer; not %s",
        kind, tensor, tensor.type().javaType, value.getClass().getSimpleName());
  }

  private static Class<?> typeOf(Buffer buffer) {
    if (buffer instanceof FloatBuffer) return float.class;
    if (buffer instanceof IntBuffer) return int.class;
    if (buffer instanceof ShortBuffer) return short.class;
    if (buffer instanceof LongBuffer) return long.class;
    return buffer instanceof DoubleBuffer ? double.class : char.class;
  }

  /** Throws unless {@code part}, of an array of arrays, has the tensor's dimensions from {@code depth} on. */
  private static void checkDimensions(TensorInfo tensor, String kind, Object part, int depth) {
    boolean isRow = depth == tensor.rank() - 1;
    if (depth >= tensor.rank() || part == null || part instanceof Object[] == isRow) {
      throw HearthException.invalid(
          "the array for %s %s has %s at depth %d, which does not fit its dimensions",
          kind, tensor, part == null ? "null" : part.getClass().getSimpleName(), depth);
    }
    if (isRow) checkType(tensor, kind, part);
    checkSize(tensor, kind, "parts at depth " + depth, tensor.dimensionAt(depth), Array.getLength(part));
    if (isRow) return;
    for (Object inner : (Object[]) part) checkDimensions(tensor, kind, inner, depth + 1);
  }

  private static void checkType(TensorInfo tensor, String kind, Object array) {
    Class<?> type = array.getClass().getComponentType();
    boolean isByteOfBool = tensor.type() == ElementType.BOOL && type == byte.class;
    if (type != tensor.type().javaType && !isByteOfBool) throw wrongType(tensor, kind, array);
  }

  /** Copies a value that {@link #check} accepted to {@code memory}, or from it. */
  private static void copy(TensorInfo tensor, Object value, ByteBuffer memory, boolean isInput) {
    memory.clear();
    memory.order(ByteOrder.nativeOrder());
    if (value instanceof Buffer) copyBuffer(duplicateOf((Buffer) value), memory, isInput);
    else copyArray(tensor.type(), value, memory, isInput);
  }

  private static void copyArray(ElementType type, Object array, ByteBuffer memory, boolean isInput) {
    if (array instanceof Object[]) {
      for (Object part : (Object[]) array) copyArray(type, part, memory, isInput);
    } else if (array instanceof boolean[]) {
      boolean[] flags = (boolean[]) array;
      for (int k = 0; k < flags.length; ++k) {
        if (isInput) memory.put((byte) (flags[k] ? 1 : 0));
        else flags[k] = memory.get() != 0;
      }
    } else {
      int end = memory.position() + Array.getLength(array) * type.bytes;
      memory.limit(end);
      copyBuffer(wrapped(array), memory.slice().order(ByteOrder.nativeOrder()), isInput);
      memory.limit(memory.capacity()).position(end);
    }
  }

  private static Buffer wrapped(Object array) {
    if (array instanceof float[]) return FloatBuffer.wrap((float[]) array);
    if (array instanceof byte[]) return ByteBuffer.wrap((byte[]) array);
    if (array instanceof int[]) return IntBuffer.wrap((int[]) array);
    if (array instanceof short[]) return ShortBuffer.wrap((short[]) array);
    return array instanceof long[] ? LongBuffer.wrap((long[]) array) : DoubleBuffer.wrap((double[]) array);
  }

  private static Buffer duplicateOf(Buffer buffer) {
    if (buffer instanceof FloatBuffer) return ((FloatBuffer) buffer).duplicate();
    if (buffer instanceof ByteBuffer) return ((ByteBuffer) buffer).duplicate();
    if (buffer instanceof IntBuffer) return ((IntBuffer) buffer).duplicate();
    if (buffer instanceof ShortBuffer) return ((ShortBuffer) buffer).duplicate();
    return buffer instanceof LongBuffer ? ((LongBuffer) buffer).duplicate() : ((DoubleBuffer) buffer).duplicate();
  }

  /** Copies all that is left in one to the other. */
  private static void copyBuffer(Buffer value, ByteBuffer memory, boolean isInput) {
    if (value instanceof FloatBuffer) {
      FloatBuffer given = (FloatBuffer) value, own = memory.asFloatBuffer();
      (isInput ? own : given).put(isInput ? given : own);
    } else if (value instanceof ByteBuffer) {
      ByteBuffer given = (ByteBuffer) value;
      (isInput ? memory : given).put(isInput ? given : memory);
    } else if (value instanceof IntBuffer) {
      IntBuffer given = (IntBuffer) value, own = memory.asIntBuffer();
      (isInput ? own : given).put(isInput ? given : own);
    } else if (value instanceof ShortBuffer) {
      ShortBuffer given = (ShortBuffer) value, own = memory.asShortBuffer();
      (isInput ? own : given).put(isInput ? given : own);
    } else if (value instanceof LongBuffer) {
      LongBuffer given = (LongBuffer) value, own = memory.asLongBuffer();
      (isInput ? own : given).put(isInput ? given : own);
    } else {
      DoubleBuffer given = (DoubleBuffer) value, own = memory.asDoubleBuffer();
      (isInput ? own : given).put(isInput ? given : own);
    }
  }
}
