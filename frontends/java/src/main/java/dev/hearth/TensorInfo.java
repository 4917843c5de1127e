package dev.hearth;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** Describes an input or output of a model. Immutable. */
public final class TensorInfo {
  private final String name;
  private final String alias;
  private final ElementType type;
  private final int[] shape;
  private final long byteSize;
  private final float[] scales;
  private final long[] zeroPoints;

  /** Called by native code; texts are UTF-8. */
  TensorInfo(
      byte[] name,
      byte[] alias,
      byte[] type,
      int[] shape,
      long byteSize,
      float[] scales,
      long[] zeroPoints) {
    this.name = new String(name, StandardCharsets.UTF_8);
    this.alias = new String(alias, StandardCharsets.UTF_8);
    this.type = ElementType.of(new String(type, StandardCharsets.UTF_8));
    this.shape = shape;
    this.byteSize = byteSize;
    this.scales = scales;
    this.zeroPoints = zeroPoints;
  }

  /**
   * Returns its name in the file.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  /**
   * Returns its name in the model's signature.
   *
   * @return the name; empty without one
   */
  public String alias() {
    return alias;
  }

  /**
   * Returns the type of its elements.
   *
   * @return the type
   */
  public ElementType type() {
    return type;
  }

  /**
   * Returns its shape, outermost dimension first; images are [batch, height, width, channels].
   *
   * @return a new array
   */
  public int[] shape() {
    return shape.clone();
  }

  /**
   * Returns the size of the dense tensor.
   *
   * @return a number of bytes
   */
  public long byteSize() {
    return byteSize;
  }

  /**
   * Returns the scales of a quantized tensor: real = scale * (stored - zero point).
   *
   * @return a new array: empty when not quantized, one number per tensor, or one per channel
   */
  public float[] scales() {
    return scales.clone();
  }

  /**
   * Returns the zero points that belong to the scales.
   *
   * @return a new array, as long as {@link #scales()}
   */
  public long[] zeroPoints() {
    return zeroPoints.clone();
  }

  /** Returns for example {@code 'image' float32[1, 224, 224, 3]}. */
  @Override
  public String toString() {
    return "'" + name + "' " + type.name().toLowerCase(Locale.ROOT) + Arrays.toString(shape);
  }

  boolean isCalled(String wanted) {
    return name.equals(wanted) || (!alias.isEmpty() && alias.equals(wanted));
  }

  int dimensionAt(int index) {
    return index < shape.length ? shape[index] : -1;
  }

  int rank() {
    return shape.length;
  }
}
