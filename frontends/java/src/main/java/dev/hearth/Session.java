package dev.hearth;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A model on a device, ready to run.
 *
 * <pre>{@code
 * try (Session session = Session.open("mobilenet.tflite", new Options().set("device", "auto"))) {
 *   float[] scores = new float[1001];
 *   session.run(pixels, scores);
 * }
 * }</pre>
 *
 * <p>Memory. A tensor is given as one of these:
 *
 * <ul>
 *   <li>a direct {@link ByteBuffer} in native order, from its position to its limit: used where it is, not copied. {@link
 *       #newInput} and {@link #newOutput} make such buffers. Position and limit stay as they are;
 *   <li>another {@link ByteBuffer}, or a buffer of the element type ({@link java.nio.FloatBuffer}, ...): copied;
 *   <li>an array of the element type's Java counterpart ({@code float[]}), flat or with the tensor's dimensions ({@code
 *       float[1][224][224][3]}): copied.
 * </ul>
 *
 * <p>Any thread may use a session; calls wait for each other. A session that is forgotten without {@link #close} is
 * freed when the collector finds it. Closing is better: only native code knows how much memory a session holds.
 */
public final class Session implements AutoCloseable {
  private final NativeHandle handle;
  private final TensorMemory memory = new TensorMemory(); // guarded by the handle
  private volatile List<TensorInfo> inputs;
  private volatile List<TensorInfo> outputs;
  private final ThreadPoolExecutor runner = newRunner();

  private Session(long address) {
    handle = new NativeHandle(this, "session", address, Native::closeSession);
    handle.alone(this::noteTensors);
  }

  /** One thread, which ends where it has nothing to do. */
  private static ThreadPoolExecutor newRunner() {
    ThreadPoolExecutor made =
        new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "hearth-run");
              thread.setDaemon(true);
              return thread;
            });
    made.allowCoreThreadTimeOut(true);
    return made;
  }

  private Void noteTensors(long address) {
    inputs = Collections.unmodifiableList(Arrays.asList(Native.sessionTensors(address, false)));
    outputs = Collections.unmodifiableList(Arrays.asList(Native.sessionTensors(address, true)));
    return null;
  }

  /**
   * Reads a model and opens a device for it, with all options as by default.
   *
   * @param path a .tflite or .onnx file
   * @return the session
   */
  public static Session open(String path) {
    return open(path, Options.NONE);
  }

  /**
   * Reads a model and opens a device for it. Trouble with the cache is a warning in the report.
   *
   * @param path a .tflite or .onnx file
   * @param options device, precision, cache, shapes and others
   * @return the session
   */
  public static Session open(String path, Options options) {
    Native.require();
    NativeHandle.makeRoom();
    Options used = Model.given(options);
    return new Session(
        Native.openSession(Native.bytes(path, "the path"), used.texts(), used.shapeNames(), used.shapes()));
  }

  /**
   * Opens a device for a model.
   *
   * @param model the model, whose signature and shapes were chosen when it was opened
   * @param options device, precision, cache and others, but neither signature nor shapes
   * @return the session
   */
  public static Session open(Model model, Options options) {
    NativeHandle.makeRoom();
    Options used = Model.given(options);
    if (model == null) throw HearthException.invalid("the model is null");
    return model
        .handle()
        .shared(
            address ->
                new Session(Native.createSession(address, used.texts(), used.shapeNames(), used.shapes())));
  }

  /**
   * Opens a second session of the same model on the same device, which shares the weights. Each has its own states and
   * shapes; they may be used from different threads at once and closed in any order.
   *
   * @return the new session
   */
  public Session newClone() {
    NativeHandle.makeRoom();
    return handle.alone(address -> new Session(Native.cloneSession(address)));
  }

  /**
   * Returns the inputs with their current shapes.
   *
   * @return a list that cannot be changed
   */
  public List<TensorInfo> inputs() {
    return inputs;
  }

  /**
   * Returns the outputs with their current shapes.
   *
   * @return a list that cannot be changed
   */
  public List<TensorInfo> outputs() {
    return outputs;
  }

  /**
   * Makes a buffer for an input, which a run uses without a copy.
   *
   * @param index of the input
   * @return a new direct buffer in native order
   */
  public ByteBuffer newInput(int index) {
    return newBuffer(inputs, index, "input");
  }

  /**
   * Makes a buffer for an output, which a run uses without a copy.
   *
   * @param index of the output
   * @return a new direct buffer in native order
   */
  public ByteBuffer newOutput(int index) {
    return newBuffer(outputs, index, "output");
  }

  private static ByteBuffer newBuffer(List<TensorInfo> tensors, int index, String kind) {
    if (index < 0 || index >= tensors.size()) {
      throw HearthException.invalid("the model has %d %ss; there is no %s %d", tensors.size(), kind, kind, index);
    }
    return TensorMemory.allocate(tensors.get(index)).order(ByteOrder.nativeOrder());
  }

  /**
   * Runs a model with one input and one output once.
   *
   * @param input a buffer or array, see above
   * @param output a buffer or array that gets the result
   */
  public void run(Object input, Object output) {
    run(Collections.singletonList(input), Collections.singletonList(output));
  }

  /**
   * Runs once.
   *
   * @param inputs a buffer or array for each input, in the order of {@link #inputs()}
   * @param outputs a buffer or array for each output; null for one that is not wanted
   */
  public void run(List<?> inputs, List<?> outputs) {
    List<Object> given = copyOf(inputs, "inputs");
    List<Object> wanted = copyOf(outputs, "outputs");
    handle.alone(address -> memory.run(address, this.inputs, given, this.outputs, wanted));
  }

  /**
   * Runs once, with tensors by name or alias.
   *
   * @param inputs a buffer or array for each input
   * @param outputs a buffer or array for each output that is wanted
   */
  public void run(Map<String, ?> inputs, Map<String, ?> outputs) {
    List<Object> given = inOrder(this.inputs, inputs, "input");
    List<Object> wanted = inOrder(this.outputs, outputs, "output");
    run(given, wanted);
  }

  /**
   * Runs once on the session's own thread, which does one run after the other in the order of these calls. Until the
   * future is done the memory must not be touched. {@link #close} cancels runs that have not begun, as {@link
   * CompletableFuture#cancel} does.
   *
   * @param inputs as for {@link #run(List, List)}
   * @param outputs as for {@link #run(List, List)}
   * @return done when the outputs have the result, or with the {@link HearthException} that the run ended with
   */
  public CompletableFuture<Void> runLater(List<?> inputs, List<?> outputs) {
    LaterRun run = new LaterRun(this, copyOf(inputs, "inputs"), copyOf(outputs, "outputs"));
    try {
      runner.execute(run);
    } catch (java.util.concurrent.RejectedExecutionException closed) {
      run.cancel();
    }
    return run.done;
  }

  private static final class LaterRun implements Runnable {
    final CompletableFuture<Void> done = new CompletableFuture<>();
    private final Session session;
    private final List<Object> inputs;
    private final List<Object> outputs;

    LaterRun(Session session, List<Object> inputs, List<Object> outputs) {
      this.session = session;
      this.inputs = inputs;
      this.outputs = outputs;
    }

    @Override
    public void run() {
      if (done.isDone()) return; // cancelled
      try {
        session.run(inputs, outputs);
      } catch (RuntimeException | Error problem) {
        done.completeExceptionally(problem);
        return;
      }
      done.complete(null);
    }

    void cancel() {
      done.completeExceptionally(HearthException.invalid("the session was closed before this run began"));
    }
  }

  private static List<Object> copyOf(List<?> tensors, String role) {
    if (tensors == null) throw HearthException.invalid("the %s are null", role);
    return new ArrayList<>(tensors);
  }

  private static List<Object> inOrder(List<TensorInfo> tensors, Map<String, ?> named, String kind) {
    if (named == null) throw HearthException.invalid("the %ss are null", kind);
    Object[] ordered = new Object[tensors.size()];
    for (Map.Entry<String, ?> entry : named.entrySet()) {
      int index = 0;
      while (index < ordered.length && !tensors.get(index).isCalled(entry.getKey())) ++index;
      if (index == ordered.length) {
        throw HearthException.invalid("the model has no %s named '%s'; it has %s", kind, entry.getKey(), tensors);
      }
      ordered[index] = entry.getValue();
    }
    return new ArrayList<>(Arrays.asList(ordered));
  }

  /**
   * Changes shapes of inputs. Other inputs keep theirs; {@link #inputs()} and {@link #outputs()} have the new shapes.
   * Earlier shapes stay ready (option {@code kept_shapes}), and weights are not uploaded again. On an exception the
   * session keeps its shapes.
   *
   * @param shapes the new shapes, by name or alias
   */
  public void resize(Map<String, int[]> shapes) {
    Options given = new Options();
    if (shapes == null) throw HearthException.invalid("the shapes are null");
    shapes.forEach(given::shape);
    handle.alone(
        address -> {
          Native.resize(address, given.shapeNames(), given.shapes());
          return noteTensors(address);
        });
  }

  /**
   * Changes the first dimension of every input.
   *
   * @param batch the new size
   */
  public void resizeBatch(int batch) {
    handle.alone(
        address -> {
          Native.resizeBatch(address, batch);
          return noteTensors(address);
        });
  }

  /** Resets the model's states to those before the first run. */
  public void resetState() {
    handle.alone(
        address -> {
          Native.resetState(address);
          return null;
        });
  }

  /** After a start with {@code start} hot: waits until the device is ready or was given up, which is an exception. */
  public void waitForDevice() {
    handle.alone(
        address -> {
          Native.waitForDevice(address);
          return null;
        });
  }

  /** Stores in the cache what this start had to make. {@link #close} does it too. */
  public void saveToCache() {
    handle.alone(
        address -> {
          Native.saveToCache(address);
          return null;
        });
  }

  /**
   * Returns what the session did and what it cost.
   *
   * @return a JSON object, as {@code hearth run --json} writes it
   */
  public String report() {
    return Native.text(handle.alone(Native::report));
  }

  /**
   * Cancels runs of {@link #runLater} that have not begun, waits for calls on other threads, stores what the cache lacks
   * and frees the device. Later calls of other methods are exceptions.
   */
  @Override
  public void close() {
    runner.shutdown();
    List<Runnable> waiting = new ArrayList<>();
    runner.getQueue().drainTo(waiting);
    for (Runnable run : waiting) ((LaterRun) run).cancel();
    handle.close();
  }
}
