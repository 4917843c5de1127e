package dev.hearth;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Options of a session, by name: those that Hearth's C and Python interfaces have.
 *
 * <pre>{@code
 * Options options = new Options().set("device", "auto").set("precision", "fp16").shape("image", 1, 320, 320, 3);
 * }</pre>
 *
 * <p>Some names: {@code device}, {@code precision}, {@code cache}, {@code cache_folder}, {@code model_token}, {@code
 * threads}, {@code start}, {@code cpu_ops}, {@code signature}, {@code top_k}, {@code class_maps}. The message for an
 * unknown name lists all. Beside them there are the names that TensorFlow Lite's GPU delegate has for the same.
 *
 * <p>A session copies its options when it is opened. Not for several threads at once.
 */
public final class Options {
  /** The least time until the first result. */
  public static final int INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER = 0;

  /** The most results over a long time. */
  public static final int INFERENCE_PREFERENCE_SUSTAINED_SPEED = 1;

  static final Options NONE = new Options();

  private final Map<String, String> texts = new LinkedHashMap<>();
  private final Map<String, int[]> shapes = new LinkedHashMap<>();
  private boolean excludesQuantized;

  /** Makes options that are all as by default. */
  public Options() {}

  /**
   * Sets an option.
   *
   * @param name its name
   * @param value its value as text: {@code "on"}, {@code "512M"}, {@code "softmax,op:7"}
   * @return this
   * @throws HearthException for an unknown name, and a value of the wrong kind
   */
  public Options set(String name, String value) {
    Native.require();
    Native.checkOption(Native.bytes(name, "an option's name"), Native.bytes(value, "option " + name));
    texts.put(name, value);
    return this;
  }

  /**
   * Sets an option that takes a number.
   *
   * @param name its name
   * @param value its value
   * @return this
   */
  public Options set(String name, long value) {
    return set(name, Long.toString(value));
  }

  /**
   * Sets an option that is on or off.
   *
   * @param name its name
   * @param value whether it is on
   * @return this
   */
  public Options set(String name, boolean value) {
    return set(name, value ? "on" : "off");
  }

  /**
   * Sets the shape of an input: sets open dimensions or replaces the file's shape.
   *
   * @param input its name or alias
   * @param shape outermost dimension first
   * @return this
   */
  public Options shape(String input, int... shape) {
    Native.bytes(input, "an input's name");
    if (shape == null) throw HearthException.invalid("the shape of input '%s' is null", input);
    shapes.put(input, shape.clone());
    return this;
  }

  /**
   * Keeps what a start makes in a folder. The reference's name for the options {@code cache_folder} and {@code
   * model_token}.
   *
   * @param serializationDir the folder
   * @param modelToken a text that is added to the keys; the model's content is part of them anyway
   * @return this
   */
  public Options setSerializationParams(String serializationDir, String modelToken) {
    return set("cache", true).set("cache_folder", serializationDir).set("model_token", modelToken);
  }

  /**
   * Allows 16-bit precision. The reference's name for {@code precision} fp16 or fp32.
   *
   * @param precisionLossAllowed whether it is allowed
   * @return this
   */
  public Options setPrecisionLossAllowed(boolean precisionLossAllowed) {
    return set("precision", precisionLossAllowed ? "fp16" : "fp32");
  }

  /**
   * Whether operators with quantized tensors run on the device (the default) or on the CPU: the word {@code quantized}
   * in {@code cpu_ops}.
   *
   * @param quantizedModelsAllowed whether they may run on the device
   * @return this
   */
  public Options setQuantizedModelsAllowed(boolean quantizedModelsAllowed) {
    excludesQuantized = !quantizedModelsAllowed;
    return this;
  }

  /**
   * Says what matters. The reference's numbers for the option {@code preference}.
   *
   * @param preference one of the constants of this class
   * @return this
   */
  public Options setInferencePreference(int preference) {
    if (preference != INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER && preference != INFERENCE_PREFERENCE_SUSTAINED_SPEED) {
      throw HearthException.invalid(
          "%d is no inference preference: 0 is fast single answer, 1 is sustained speed", preference);
    }
    boolean isFast = preference == INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER;
    return set("preference", isFast ? "fast_single_answer" : "sustained_speed");
  }

  byte[][] texts() {
    Map<String, String> all = new LinkedHashMap<>(texts);
    if (excludesQuantized) all.merge("cpu_ops", "quantized", (given, word) -> given + "," + word);
    byte[][] bytes = new byte[2 * all.size()][];
    int k = 0;
    for (Map.Entry<String, String> option : all.entrySet()) {
      bytes[k++] = Native.bytes(option.getKey(), "an option's name");
      bytes[k++] = Native.bytes(option.getValue(), "an option's value");
    }
    return bytes;
  }

  byte[][] shapeNames() {
    return Native.bytes(shapes.keySet(), "an input's name");
  }

  int[][] shapes() {
    return shapes.values().toArray(new int[0][]);
  }
}
