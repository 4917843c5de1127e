// java -cp hearth.jar DoorRuns.java MODEL DEVICE RUNS: times of runs on direct buffers, as benchmarks/doors.py reads them.
import dev.hearth.Options;
import dev.hearth.Session;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

class DoorRuns {
  public static void main(String[] arguments) {
    int runs = Integer.parseInt(arguments[2]);
    try (Session session = Session.open(arguments[0], new Options().set("device", arguments[1]))) {
      List<ByteBuffer> inputs = new ArrayList<>(), outputs = new ArrayList<>();
      for (int k = 0; k < session.inputs().size(); ++k) inputs.add(session.newInput(k));
      for (int k = 0; k < session.outputs().size(); ++k) outputs.add(session.newOutput(k));
      long[] times = new long[runs];
      for (int run = -runs / 2; run < runs; ++run) { // the first ones let Java compile what is hot
        long begin = System.nanoTime();
        session.run(inputs, outputs);
        if (run >= 0) times[run] = System.nanoTime() - begin;
      }
      Arrays.sort(times);
      System.out.printf("{\"min\": %.6f, \"median\": %.6f}%n", times[0] / 1e6, times[runs / 2] / 1e6);
    }
  }
}
