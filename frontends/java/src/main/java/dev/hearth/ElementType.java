package dev.hearth;

import java.util.Locale;

/** The type of a tensor's elements. Arrays of the type's Java counterpart, and direct buffers, hold them. */
public enum ElementType {
  /** {@code float[]}. */
  FLOAT32(float.class, 4),
  /** {@code short[]} with the bits of IEEE half precision. */
  FLOAT16(short.class, 2),
  /** {@code double[]}. */
  FLOAT64(double.class, 8),
  /** {@code byte[]}. */
  INT8(byte.class, 1),
  /** {@code byte[]} with the bits of an unsigned number. */
  UINT8(byte.class, 1),
  /** {@code short[]}. */
  INT16(short.class, 2),
  /** {@code short[]} with the bits of an unsigned number. */
  UINT16(short.class, 2),
  /** {@code int[]}. */
  INT32(int.class, 4),
  /** {@code int[]} with the bits of an unsigned number. */
  UINT32(int.class, 4),
  /** {@code long[]}. */
  INT64(long.class, 8),
  /** {@code long[]} with the bits of an unsigned number. */
  UINT64(long.class, 8),
  /** {@code boolean[]}; a byte each, 0 or 1. */
  BOOL(boolean.class, 1),
  /** Two elements a byte, the first in the lower half: {@code byte[]} with half as many elements. */
  INT4(byte.class, 1);

  final Class<?> javaType;
  final int bytes;

  ElementType(Class<?> javaType, int bytes) {
    this.javaType = javaType;
    this.bytes = bytes;
  }

  static ElementType of(String name) {
    try {
      return valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException unknown) {
      throw new HearthException(
          HearthException.Code.UNSUPPORTED, "Java has no type for elements of type " + name);
    }
  }
}
