import dev.hearth.Options;
import dev.hearth.Session;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The models that the tests run: those of tools/demo, and single operators of tests/oracle. */
final class Demo {
  private static final Path ROOT = Paths.get(System.getProperty("hearth.source"));
  static final String F32 = ROOT.resolve("tools/demo/shapes_f32.tflite").toString();
  static final String INT8 = ROOT.resolve("tools/demo/shapes_int8.tflite").toString();

  private Demo() {}

  static Options cpu() {
    return new Options().set("device", "cpu").set("cache", false);
  }

  static Session open() {
    return Session.open(F32, cpu());
  }

  static float[] input() {
    return floats("golden_f32_input.bin");
  }

  static float[] output() {
    return floats("golden_f32_output.bin");
  }

  static byte[] bytes(String name) {
    try {
      return Files.readAllBytes(ROOT.resolve("tools/demo").resolve(name));
    } catch (IOException missing) {
      throw new AssertionError(missing);
    }
  }

  private static float[] floats(String name) {
    ByteBuffer bytes = ByteBuffer.wrap(bytes(name)).order(ByteOrder.LITTLE_ENDIAN);
    float[] values = new float[bytes.remaining() / 4];
    bytes.asFloatBuffer().get(values);
    return values;
  }

  /** A model of one operator, unpacked into {@code folder}. */
  static String operator(String name, Path folder) throws IOException {
    Path file = folder.resolve(name + ".tflite");
    try (ZipFile zip = new ZipFile(ROOT.resolve("tests/oracle/models.zip").toFile())) {
      ZipEntry entry = zip.getEntry(name + ".tflite");
      try (InputStream content = zip.getInputStream(entry)) {
        Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    return file.toString();
  }
}
