package dev.hearth;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The native functions, thin ones over {@code hearth/hearth_c.h}. Texts are UTF-8. Objects are addresses; {@link
 * NativeHandle} sees to it that they are valid. {@code options} are names and values by turns, {@code shapes} the shapes
 * of the inputs {@code shapeNames}.
 */
final class Native {
  private static final String LIBRARY = "hearth_java";
  private static final HearthException FAILURE = load();

  private Native() {}

  /** Throws if the native library could not be loaded: called by whatever a program can begin with. */
  static void require() {
    if (FAILURE != null) throw new HearthException(FAILURE.code(), FAILURE.getMessage());
  }

  private static HearthException load() {
    File beside = beside();
    try {
      if (beside != null && beside.isFile()) {
        System.load(beside.getPath());
      } else {
        System.loadLibrary(LIBRARY);
      }
    } catch (UnsatisfiedLinkError error) {
      String places = (beside == null ? "" : beside + " or ") + "java.library.path";
      return new HearthException(
          HearthException.Code.UNAVAILABLE,
          "Hearth's native library cannot be loaded from " + places + ": " + error.getMessage());
    }
    String jar = Native.class.getPackage().getImplementationVersion(); // null outside of a jar
    String library = text(version());
    if (jar == null || jar.equals(library)) return null;
    return new HearthException(
        HearthException.Code.UNAVAILABLE,
        "this jar is of Hearth " + jar + ", its native library of " + library + ": install both of one version");
  }

  /** The library's file beside the jar; null where that is unknown. */
  private static File beside() {
    try {
      File jar = new File(Native.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return new File(jar.getParentFile(), System.mapLibraryName(LIBRARY));
    } catch (Exception unknown) { // Android has no code source
      return null;
    }
  }

  static String text(byte[] utf8) {
    return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
  }

  /** For a native function. */
  static byte[] bytes(String text, String role) {
    if (text == null) throw HearthException.invalid("%s is null", role);
    if (text.indexOf('\0') >= 0) throw HearthException.invalid("%s contains a null character", role);
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[][] bytes(Iterable<String> texts, String role) {
    java.util.List<byte[]> all = new java.util.ArrayList<>();
    for (String text : texts) all.add(bytes(text, role));
    return all.toArray(new byte[0][]);
  }

  static native byte[] version();

  static native void checkOption(byte[] name, byte[] value);

  /** Seven texts of each device: id, backend, name, driver, type, reason, and "1" if it is usable. */
  static native byte[][] devices();

  static native long openModel(byte[] path, byte[][] options, byte[][] shapeNames, int[][] shapes);

  /** {@code bytes} is direct; all of it is read. */
  static native long readModel(ByteBuffer bytes, byte[][] options, byte[][] shapeNames, int[][] shapes);

  static native void closeModel(long model);

  /** The fingerprint, and the signatures' names. */
  static native byte[][] modelTexts(long model);

  static native TensorInfo[] modelTensors(long model, boolean outputs);

  static native long openSession(byte[] path, byte[][] options, byte[][] shapeNames, int[][] shapes);

  static native long createSession(long model, byte[][] options, byte[][] shapeNames, int[][] shapes);

  static native long cloneSession(long session);

  static native void closeSession(long session);

  static native TensorInfo[] sessionTensors(long session, boolean outputs);

  /** Direct buffers, of which all is used. */
  static native void run(long session, ByteBuffer[] inputs, ByteBuffer[] outputs);

  static native void resize(long session, byte[][] shapeNames, int[][] shapes);

  static native void resizeBatch(long session, int batch);

  static native void resetState(long session);

  static native void waitForDevice(long session);

  static native void saveToCache(long session);

  static native byte[] report(long session);

  /** A JSON text, or null where the verb has none. */
  static native byte[] cache(byte[] folder, byte[] verb, byte[][] arguments, byte[][] options);

  static native byte[] cacheFolder(byte[] folder);
}
