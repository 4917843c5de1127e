package dev.hearth;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A network, read and checked, independent of any device. Several threads and sessions may use it at once. It may be
 * closed before its sessions, which keep what they need.
 */
public final class Model implements AutoCloseable {
  private final NativeHandle handle;
  private final List<TensorInfo> inputs;
  private final List<TensorInfo> outputs;
  private final List<String> signatures;
  private final String fingerprint;

  private Model(long address) {
    handle = new NativeHandle(this, "model", address, Native::closeModel);
    inputs = tensors(handle, false);
    outputs = tensors(handle, true);
    List<String> texts = new ArrayList<>();
    for (byte[] text : handle.shared(Native::modelTexts)) texts.add(Native.text(text));
    fingerprint = texts.get(0);
    signatures = Collections.unmodifiableList(texts.subList(1, texts.size()));
  }

  private static List<TensorInfo> tensors(NativeHandle handle, boolean isOutput) {
    TensorInfo[] all = handle.shared(address -> Native.modelTensors(address, isOutput));
    return Collections.unmodifiableList(Arrays.asList(all));
  }

  /**
   * Maps a .tflite or .onnx file, which must not change while the model lives, and checks all of it.
   *
   * @param path the file
   * @return the model
   */
  public static Model open(String path) {
    return open(path, Options.NONE);
  }

  /**
   * The same with options.
   *
   * @param path the file
   * @param options of which the shapes and {@code signature}, {@code top_k} and {@code class_maps} are used
   * @return the model
   */
  public static Model open(String path, Options options) {
    Native.require();
    NativeHandle.makeRoom();
    Options used = given(options);
    return new Model(
        Native.openModel(Native.bytes(path, "the path"), used.texts(), used.shapeNames(), used.shapes()));
  }

  /**
   * Reads a model from memory, which is copied.
   *
   * @param bytes the content of a file, from the buffer's position to its limit
   * @param options as for {@link #open(String, Options)}
   * @return the model
   */
  public static Model read(ByteBuffer bytes, Options options) {
    Native.require();
    NativeHandle.makeRoom();
    if (bytes == null) throw HearthException.invalid("the model's bytes are null");
    Options used = given(options);
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.remaining());
    direct.put(bytes.duplicate());
    return new Model(Native.readModel(direct, used.texts(), used.shapeNames(), used.shapes()));
  }

  static Options given(Options options) {
    if (options == null) throw HearthException.invalid("the options are null; new Options() has the defaults");
    return options;
  }

  /**
   * Returns the inputs.
   *
   * @return a list that cannot be changed
   */
  public List<TensorInfo> inputs() {
    return inputs;
  }

  /**
   * Returns the outputs.
   *
   * @return a list that cannot be changed
   */
  public List<TensorInfo> outputs() {
    return outputs;
  }

  /**
   * Returns the names of the file's signatures.
   *
   * @return a list that cannot be changed
   */
  public List<String> signatures() {
    return signatures;
  }

  /**
   * Returns a fingerprint of the content.
   *
   * @return 32 hex digits
   */
  public String fingerprint() {
    return fingerprint;
  }

  NativeHandle handle() {
    return handle;
  }

  /** Frees the model. Sessions of it go on. */
  @Override
  public void close() {
    handle.close();
  }
}
