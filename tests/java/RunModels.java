import dev.hearth.ElementType;
import dev.hearth.Options;
import dev.hearth.Session;
import dev.hearth.TensorInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * RunModels DEVICE FOLDER MODEL...: runs each model on numbers that are the same each time. Writes inputs and outputs
 * to FOLDER/MODEL, for tests/java/check_models.py, and says on a line for each model what was compiled.
 */
final class RunModels {
  public static void main(String[] arguments) throws IOException {
    Path folder = Paths.get(arguments[1]);
    Options options =
        new Options().set("device", arguments[0]).set("cache_folder", folder.resolve("cache").toString());
    for (int k = 2; k < arguments.length; ++k) {
      Path model = Paths.get(arguments[k]);
      Path results = Files.createDirectories(folder.resolve(model.getFileName().toString()));
      try (Session session = Session.open(model.toString(), options)) {
        List<ByteBuffer> inputs = new ArrayList<>();
        List<ByteBuffer> outputs = new ArrayList<>();
        for (int i = 0; i < session.inputs().size(); ++i) inputs.add(filled(session, i));
        for (int i = 0; i < session.outputs().size(); ++i) outputs.add(session.newOutput(i));
        session.run(inputs, outputs);
        for (int i = 0; i < inputs.size(); ++i) write(results.resolve("input" + i + ".bin"), inputs.get(i));
        for (int i = 0; i < outputs.size(); ++i) write(results.resolve("output" + i + ".bin"), outputs.get(i));
        String report = session.report();
        System.out.println(
            model.getFileName() + " " + number(report, "compiled") + " " + number(report, "spirv_compiled"));
      }
    }
  }

  private static ByteBuffer filled(Session session, int index) {
    TensorInfo tensor = session.inputs().get(index);
    ByteBuffer buffer = session.newInput(index);
    Random random = new Random(index);
    boolean isFloat = tensor.type() == ElementType.FLOAT32;
    boolean isOfBytes = tensor.type() == ElementType.UINT8 || tensor.type() == ElementType.INT8;
    while (buffer.hasRemaining()) {
      if (isFloat) buffer.putFloat(random.nextFloat());
      else buffer.put(isOfBytes ? (byte) random.nextInt() : 0);
    }
    buffer.clear();
    return buffer;
  }

  private static void write(Path file, ByteBuffer buffer) throws IOException {
    byte[] bytes = new byte[buffer.capacity()];
    buffer.duplicate().order(ByteOrder.nativeOrder()).get(bytes);
    Files.write(file, bytes);
  }

  private static String number(String report, String key) {
    Matcher found = Pattern.compile("\"" + key + "\": (\\d+)").matcher(report);
    return found.find() ? found.group(1) : "?";
  }
}
