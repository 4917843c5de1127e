import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hearth.Cache;
import dev.hearth.HearthException;
import dev.hearth.HearthException.Code;
import dev.hearth.Model;
import dev.hearth.Options;
import dev.hearth.Session;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Every mistake is an exception with a code and a sentence. */
class MisuseTest {
  private static void assertRefused(Code code, String part, Executable mistake) {
    HearthException exception = assertThrows(HearthException.class, mistake);
    assertEquals(code, exception.code(), exception.getMessage());
    assertTrue(exception.getMessage().contains(part), exception.getMessage());
  }

  private static void assertInvalid(String part, Executable mistake) {
    assertRefused(Code.INVALID_ARGUMENT, part, mistake);
  }

  @Test
  void aClosedSessionSaysSo() {
    Session session = Demo.open();
    session.close();
    session.close();
    float[] output = new float[Demo.output().length];
    for (Executable call :
        Arrays.<Executable>asList(
            () -> session.run(Demo.input(), output),
            () -> session.resizeBatch(2),
            session::report,
            session::resetState,
            session::saveToCache,
            session::waitForDevice,
            session::newClone)) {
      assertInvalid("the session was closed", call);
    }
    assertEquals(1, session.inputs().size()); // what it was stays known
  }

  @Test
  void aClosedModelOpensNoSession() {
    Model model = Model.open(Demo.F32);
    model.close();
    assertInvalid("the model was closed", () -> Session.open(model, Demo.cpu()));
  }

  @Test
  void memoryOfTheWrongSizeOrTypeIsRefused() {
    try (Session session = Demo.open()) {
      float[] input = Demo.input();
      float[] output = new float[Demo.output().length];
      assertInvalid("has 27648 elements, the memory for it 5", () -> session.run(new float[5], output));
      assertInvalid("has 55296 elements, the memory for it 0", () -> session.run(input, new float[0]));
      assertInvalid("takes float[]", () -> session.run(new double[input.length], output));
      assertInvalid("has Float at depth 1", () -> session.run(new Float[] {1f}, output));
      assertInvalid("takes float[]", () -> session.run("pixels", output));
      assertInvalid("takes float[]", () -> session.run(IntBuffer.allocate(input.length), output));
      assertInvalid("parts at depth 1", () -> session.run(new float[1][95][96][3], output));
      assertInvalid("at depth 3", () -> session.run(new float[1][96][96][3][1], output));
      assertInvalid("null at depth 1", () -> session.run(new float[1][][][], output));
      assertInvalid("was not given", () -> session.run(null, output));
      ByteOrder foreign =
          ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
      ByteBuffer small = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
      ByteBuffer turned = ByteBuffer.allocateDirect(4 * input.length).order(foreign);
      ByteBuffer readOnly = session.newOutput(0).asReadOnlyBuffer().order(ByteOrder.nativeOrder());
      assertInvalid("has 110592 bytes, the memory for it 4", () -> session.run(small, output));
      assertInvalid("native byte order", () -> session.run(turned, output));
      assertInvalid("can only be read", () -> session.run(input, readOnly));

      List<Object> one = Collections.singletonList(input);
      List<Object> none = Collections.emptyList();
      Map<String, Object> noNames = Collections.emptyMap();
      assertInvalid("1 inputs, 2 were given", () -> session.run(Arrays.asList(input, input), one));
      assertInvalid("1 outputs, 0 were given", () -> session.run(one, none));
      assertInvalid("no input named 'x'", () -> session.run(Collections.singletonMap("x", input), noNames));
      assertInvalid("was not given", () -> session.run(noNames, noNames));
      assertInvalid("inputs are null", () -> session.run((List<?>) null, none));
      assertInvalid("outputs are null", () -> session.run(Collections.singletonMap("image", input), (Map<String, ?>) null));
      assertInvalid("there is no input 1", () -> session.newInput(1));
      assertInvalid("there is no output -1", () -> session.newOutput(-1));
      session.run(input, output); // and still runs
    }
  }

  private static Map<String, int[]> shapes(int... shape) {
    return Collections.singletonMap("image", shape);
  }

  @Test
  void wrongShapesAreRefusedAndTheOldOnesStay() {
    try (Session session = Demo.open()) {
      assertRefused(Code.MALFORMED_INPUT, "image", () -> session.resize(shapes(1, 96, 96, 4)));
      assertInvalid("'x'", () -> session.resize(Collections.singletonMap("x", new int[] {1})));
      assertInvalid("at most 8 dimensions", () -> session.resize(shapes(new int[9])));
      assertInvalid("is null", () -> session.resize(shapes((int[]) null)));
      assertThrows(HearthException.class, () -> session.resizeBatch(-1));
      session.run(Demo.input(), new float[Demo.output().length]);
    }
  }

  @Test
  void whatDoesNotExistIsNamed(@TempDir Path folder) throws Exception {
    assertRefused(Code.NOT_FOUND, "no such", () -> Session.open(folder + "/no such", Demo.cpu()));
    assertRefused(Code.NOT_FOUND, "no such", () -> Model.open(folder + "/no such"));
    assertRefused(Code.UNAVAILABLE, "no such", () -> Session.open(Demo.F32, new Options().set("device", "no such")));
    assertInvalid("there are device, ", () -> new Options().set("no such", "1"));
    assertInvalid("number", () -> new Options().set("threads", "many"));
    assertInvalid("is null", () -> new Options().set("device", (String) null));
    assertInvalid("null character", () -> new Options().set("device", "c\0pu"));
    assertInvalid("'x'", () -> Session.open(Demo.F32, Demo.cpu().shape("x", 1)));
    assertInvalid("inference preference", () -> new Options().setInferencePreference(7));
    assertInvalid("the path is null", () -> Session.open((String) null, Demo.cpu()));
    assertInvalid("options are null", () -> Session.open(Demo.F32, null));
    assertInvalid("model is null", () -> Session.open((Model) null, Demo.cpu()));
    Path broken = Files.write(folder.resolve("broken.tflite"), new byte[] {1, 2, 3});
    assertThrows(HearthException.class, () -> Model.open(broken.toString()));
    assertThrows(HearthException.class, () -> Model.read(ByteBuffer.allocate(0), new Options()));
    assertInvalid("cannot have -1 bytes", () -> new Cache(folder.toString()).prune(-1));
    assertThrows(HearthException.class, () -> new Cache(folder.toString()).pin("no such", true));
  }

  @Test
  void aLaterRunReportsItsMistake() throws Exception {
    Session session = Demo.open();
    CompletableFuture<Void> run =
        session.runLater(Collections.singletonList(new float[1]), Collections.singletonList(null));
    ExecutionException failure = assertThrows(ExecutionException.class, () -> run.get(60, TimeUnit.SECONDS));
    assertTrue(failure.getCause().getMessage().contains("the memory for it 1"), failure::toString);
    session.close();
    CompletableFuture<Void> late =
        session.runLater(Collections.singletonList(Demo.input()), Collections.singletonList(null));
    failure = assertThrows(ExecutionException.class, () -> late.get(60, TimeUnit.SECONDS));
    assertTrue(failure.getCause().getMessage().contains("the session was closed"), failure::toString);
  }
}
