import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hearth.HearthException;
import dev.hearth.Model;
import dev.hearth.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Sessions that are closed, forgotten, and used while others close them. The heap is small: see CMakeLists.txt. */
class LifetimeTest {
  private static final int SESSIONS = 1000;

  /** Of this process, in MiB. */
  private static long residentMemory() throws IOException {
    for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
    }
    throw new AssertionError("no VmRSS");
  }

  private static void openOne(Model model, boolean forget) {
    Session session = Session.open(model, Demo.cpu().set("threads", 1));
    session.run(Demo.input(), new float[Demo.output().length]);
    if (!forget) session.close();
  }

  @Test
  void aThousandSessionsOfWhichHalfAreForgottenKeepNoMemory() throws Exception {
    assertTrue(Runtime.getRuntime().maxMemory() <= 64 << 20, "the heap is to be small");
    try (Model model = Model.open(Demo.F32)) {
      long before = 0;
      for (int k = 0; k < SESSIONS; ++k) {
        openOne(model, k % 2 == 0);
        if (k == SESSIONS / 4) before = residentMemory();
      }
      long growth = residentMemory() - before;
      assertTrue(growth < 100, "the last 750 sessions keep " + growth + " MiB");
    }
  }

  @Test
  void aRunThatIsInProgressIsFinishedBeforeItsSessionCloses() throws Exception {
    for (int round = 0; round < 50; ++round) {
      Session session = Demo.open();
      AtomicReference<Throwable> problem = new AtomicReference<>();
      AtomicInteger runs = new AtomicInteger();
      CountDownLatch begun = new CountDownLatch(3);
      List<Thread> threads = new ArrayList<>();
      for (int k = 0; k < 3; ++k) {
        Thread thread =
            new Thread(
                () -> {
                  float[] output = new float[Demo.output().length];
                  begun.countDown();
                  try {
                    while (true) {
                      session.run(Demo.input(), output);
                      runs.incrementAndGet();
                    }
                  } catch (HearthException closed) {
                    if (!closed.getMessage().equals("the session was closed")) problem.set(closed);
                  } catch (Throwable other) {
                    problem.set(other);
                  }
                });
        thread.start();
        threads.add(thread);
      }
      begun.await();
      if (round % 2 == 0) session.run(Demo.input(), new float[Demo.output().length]);
      session.close();
      for (Thread thread : threads) thread.join(60000);
      assertEquals(null, problem.get());
    }
  }

  @Test
  void closingCancelsRunsThatHaveNotBegun() throws Exception {
    Session session = Demo.open();
    List<CompletableFuture<Void>> runs = new ArrayList<>();
    for (int k = 0; k < 100; ++k) {
      runs.add(session.runLater(Collections.singletonList(Demo.input()), Collections.singletonList(null)));
    }
    runs.get(99).cancel(true);
    session.close();
    CompletableFuture.allOf(runs.toArray(new CompletableFuture<?>[0])).handle((done, problem) -> null)
        .get(60, TimeUnit.SECONDS);
    assertNotEquals(0, runs.stream().filter(CompletableFuture::isCompletedExceptionally).count());
  }

  @Test
  void aFutureMayCloseItsSession() throws Exception {
    Session session = Demo.open();
    session
        .runLater(Collections.singletonList(Demo.input()), Collections.singletonList(null))
        .thenRun(session::close)
        .get(60, TimeUnit.SECONDS);
  }

  @Test
  void aForgottenSessionFinishesItsLaterRuns() throws Exception {
    CompletableFuture<Void> run = null;
    for (int k = 0; k < 20; ++k) {
      run = Demo.open().runLater(Collections.singletonList(Demo.input()), Collections.singletonList(null));
      System.gc();
    }
    run.get(60, TimeUnit.SECONDS);
  }
}
