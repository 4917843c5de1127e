import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.hearth.Cache;
import dev.hearth.Device;
import dev.hearth.ElementType;
import dev.hearth.Model;
import dev.hearth.Options;
import dev.hearth.Session;
import dev.hearth.TensorInfo;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a program does that uses the package as it is meant. */
class SessionTest {
  @Test
  void theDemoModelGivesItsGolden() {
    float[] output = new float[Demo.output().length];
    try (Session session = Demo.open()) {
      session.run(Demo.input(), output);
    }
    assertArrayEquals(Demo.output(), output, 1e-3f);
  }

  @Test
  void eachKindOfMemoryGivesTheSameBits() {
    float[] flat = new float[Demo.output().length];
    float[][][][] nested = new float[1][96][96][6];
    try (Session session = Demo.open()) {
      session.run(Demo.input(), flat);
      ByteBuffer directInput = session.newInput(0);
      directInput.asFloatBuffer().put(Demo.input());
      ByteBuffer directOutput = session.newOutput(0);
      session.run(directInput, directOutput);
      assertBits(flat, directOutput);
      assertEquals(0, directOutput.position());

      float[][][][] image = new float[1][96][96][3];
      FloatBuffer pixels = FloatBuffer.wrap(Demo.input());
      for (float[][] row : image[0]) for (float[] pixel : row) pixels.get(pixel);
      session.run(image, nested);
      assertEquals(flat[(95 * 96 + 7) * 6 + 5], nested[0][95][7][5]);

      FloatBuffer typed = FloatBuffer.allocate(flat.length);
      session.run(FloatBuffer.wrap(Demo.input()), typed);
      assertArrayEquals(flat, typed.array());

      ByteBuffer heap = ByteBuffer.allocate(4 * flat.length).order(ByteOrder.nativeOrder());
      session.run(directInput, heap);
      assertBits(flat, heap);

      // A part of a larger buffer: from its position to its limit.
      ByteBuffer large = ByteBuffer.allocateDirect(directInput.capacity() + 64).order(ByteOrder.nativeOrder());
      large.position(64);
      large.put(directInput.duplicate());
      large.position(64);
      session.run(large, directOutput);
      assertBits(flat, directOutput);
      assertEquals(64, large.position());
    }
  }

  private static void assertBits(float[] expected, ByteBuffer actual) {
    float[] values = new float[expected.length];
    actual.order(ByteOrder.nativeOrder()).asFloatBuffer().get(values);
    assertArrayEquals(expected, values);
  }

  @Test
  void tensorsSayWhatTheyAre() {
    try (Model model = Model.open(Demo.INT8)) {
      TensorInfo input = model.inputs().get(0);
      assertEquals("image", input.name());
      assertEquals(ElementType.INT8, input.type());
      assertArrayEquals(new int[] {1, 96, 96, 3}, input.shape());
      assertEquals(96 * 96 * 3, input.byteSize());
      assertArrayEquals(new float[] {0.007843138f}, input.scales(), 1e-7f);
      assertArrayEquals(new long[] {-1}, input.zeroPoints());
      assertEquals("'image' int8[1, 96, 96, 3]", input.toString());
      assertEquals(32, model.fingerprint().length());
      try (Model same = Model.read(ByteBuffer.wrap(Demo.bytes("shapes_int8.tflite")), new Options())) {
        assertEquals(model.fingerprint(), same.fingerprint());
      }
    }
  }

  @Test
  void aQuantizedModelTakesBytes() {
    byte[] output = new byte[96 * 96 * 6];
    try (Session session = Session.open(Demo.INT8, Demo.cpu())) {
      session.run(Demo.bytes("golden_int8_input.bin"), output);
    }
    byte[] golden = Demo.bytes("golden_int8_output.bin");
    int farthest = IntStream.range(0, output.length).map(k -> Math.abs(output[k] - golden[k])).max().getAsInt();
    assertTrue(farthest <= 16, farthest + " steps off"); // twice what an independent runtime is off
  }

  @Test
  void eachElementTypeHasItsArrays(@TempDir Path folder) throws Exception {
    try (Session session = Session.open(Demo.operator("cast_bool_to_int32", folder), Demo.cpu())) {
      int count = (int) session.inputs().get(0).byteSize();
      boolean[] flags = new boolean[count];
      flags[1] = true;
      int[] numbers = new int[count];
      session.run(flags, numbers);
      assertEquals(1, numbers[1]);
      assertEquals(1, Arrays.stream(numbers).sum());
    }
    try (Session session = Session.open(Demo.operator("cast_int64_to_float64", folder), Demo.cpu())) {
      long[] numbers = new long[(int) session.inputs().get(0).byteSize() / 8];
      numbers[0] = 1L << 40;
      double[] reals = new double[numbers.length];
      session.run(numbers, reals);
      assertEquals((double) (1L << 40), reals[0]);
    }
    try (Session session = Session.open(Demo.operator("cast_float32_to_int16", folder), Demo.cpu())) {
      float[] reals = new float[(int) session.inputs().get(0).byteSize() / 4];
      Arrays.fill(reals, -5);
      short[] numbers = new short[reals.length];
      session.run(reals, numbers);
      assertEquals(-5, numbers[reals.length - 1]);
    }
  }

  @Test
  void tensorsHaveNames() {
    float[] output = new float[Demo.output().length];
    try (Session session = Demo.open()) {
      Map<String, Object> inputs = Collections.singletonMap("image", Demo.input());
      session.run(inputs, Collections.singletonMap(session.outputs().get(0).name(), output));
      session.run(inputs, new HashMap<String, Object>()); // an output that is not wanted
    }
    assertArrayEquals(Demo.output(), output, 1e-3f);
  }

  @Test
  void laterRunsAreDoneInTheirOrder() throws Exception {
    try (Session session = Demo.open()) {
      float[] first = new float[Demo.output().length];
      session.run(Demo.input(), first);
      List<float[]> outputs = IntStream.range(0, 8).mapToObj(k -> new float[first.length]).collect(Collectors.toList());
      StringBuffer order = new StringBuffer();
      CompletableFuture<?>[] runs = new CompletableFuture<?>[outputs.size()];
      for (int k = 0; k < runs.length; ++k) {
        int number = k;
        List<float[]> output = Collections.singletonList(outputs.get(k));
        runs[k] =
            session.runLater(Collections.singletonList(Demo.input()), output).thenRun(() -> order.append(number));
      }
      CompletableFuture.allOf(runs).get(60, TimeUnit.SECONDS);
      assertEquals("01234567", order.toString());
      for (float[] output : outputs) assertArrayEquals(first, output);
    }
  }

  @Test
  void anOpenSessionTakesOtherShapes() {
    float[] one = new float[Demo.output().length];
    float[] both = new float[2 * one.length];
    try (Session session = Demo.open()) {
      session.run(Demo.input(), one);
      session.resize(Collections.singletonMap("image", new int[] {2, 96, 96, 3}));
      assertArrayEquals(new int[] {2, 96, 96, 6}, session.outputs().get(0).shape());
      session.run(Arrays.copyOf(Demo.input(), 2 * Demo.input().length), both);
      assertArrayEquals(one, Arrays.copyOf(both, one.length), 1e-4f);
      session.resizeBatch(1);
      float[] again = new float[one.length];
      session.run(Demo.input(), again);
      assertArrayEquals(one, again);
    }
    try (Session session = Session.open(Demo.F32, Demo.cpu().shape("image", 3, 96, 96, 3))) {
      assertArrayEquals(new int[] {3, 96, 96, 6}, session.outputs().get(0).shape());
    }
  }

  @Test
  void aCloneAndItsSessionGiveTheSame() throws Exception {
    Model model = Model.open(Demo.F32);
    try (Session session = Session.open(model, Demo.cpu())) {
      model.close();
      float[] output = new float[Demo.output().length];
      float[] ofClone = new float[output.length];
      try (Session clone = session.newClone()) {
        CompletableFuture<Void> run =
            clone.runLater(Collections.singletonList(Demo.input()), Collections.singletonList(ofClone));
        session.run(Demo.input(), output);
        run.get(60, TimeUnit.SECONDS);
      }
      assertArrayEquals(output, ofClone);
    }
  }

  @Test
  void theReferencesWordsMeanTheSame(@TempDir Path folder) {
    Options options =
        new Options()
            .set("device", "cpu")
            .setSerializationParams(folder.toString(), "token")
            .setPrecisionLossAllowed(false)
            .setInferencePreference(Options.INFERENCE_PREFERENCE_SUSTAINED_SPEED);
    try (Session session = Session.open(Demo.F32, options)) {
      assertTrue(session.report().contains("\"path\": \"" + folder), session.report());
      assertTrue(session.report().contains("\"precision\": \"fp32\""));
      session.saveToCache();
      session.resetState();
      session.waitForDevice();
    }
  }

  @Test
  void quantizedOperationsStayOnTheCpuIfTheyAreNotAllowed() {
    Optional<Device> gpu = Device.list().stream().filter(device -> device.isUsable() && !device.id().equals("cpu")).findFirst();
    assumeTrue(gpu.isPresent(), "no device but the CPU is usable here");
    Options options = new Options().set("device", gpu.get().id()).set("cache", false).setQuantizedModelsAllowed(false);
    try (Session session = Session.open(Demo.INT8, options)) {
      assertTrue(session.report().contains("\"on_device\": 0"), session::report);
    }
  }

  @Test
  void aCacheAnswersInJson(@TempDir Path folder) {
    Cache cache = new Cache(folder.toString());
    assertEquals(folder.toString(), cache.folder());
    List<String> answers =
        Arrays.asList(
            cache.list(),
            cache.stats(),
            cache.models(),
            cache.verify(false),
            cache.examine(),
            cache.prune(1 << 20),
            cache.clear("", ""),
            cache.explain(Demo.F32, Demo.cpu()));
    for (String json : answers) assertTrue(json.startsWith("{") && json.endsWith("}"), json);
  }

  @Test
  void theCpuIsAmongTheDevices() {
    List<Device> devices = Device.list();
    assertTrue(devices.stream().anyMatch(device -> device.id().equals("cpu") && device.isUsable()), devices::toString);
    assertFalse(devices.stream().anyMatch(device -> !device.isUsable() && device.reason().isEmpty()));
  }

  private static int quotient(int dividend, int divisor) {
    return dividend / divisor;
  }

  /** PoCL's handler of SIGFPE skips such a division. */
  @Test
  void driversDoNotTakeTheJvmsSignals() {
    Device.list();
    int caught = 0;
    for (int k = 0; k < 100000; ++k) {
      try {
        quotient(k, k % 1000 == 0 ? 0 : 3);
      } catch (ArithmeticException divisionByZero) {
        ++caught;
      }
    }
    assertEquals(100, caught);
  }
}
