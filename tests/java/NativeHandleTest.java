package dev.hearth;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The end of the process, while other threads free objects. */
class NativeHandleTest {
  @Test
  void theEndOfTheProcessWaitsForAnObjectThatIsBeingFreed() throws Exception {
    CountDownLatch isFreeing = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    Object owner = new Object();
    NativeHandle handle =
        new NativeHandle(
            owner,
            "object",
            1,
            address -> {
              isFreeing.countDown();
              try {
                mayEnd.await();
              } catch (InterruptedException problem) {
                throw new AssertionError(problem);
              }
            });
    Thread closing = new Thread(handle::close);
    Thread ending = new Thread(NativeHandle::closeAll);
    closing.start();
    isFreeing.await();
    ending.start();
    while (ending.getState() == Thread.State.NEW || ending.getState() == Thread.State.RUNNABLE) Thread.yield();
    assertEquals(Thread.State.WAITING, ending.getState());
    mayEnd.countDown();
    closing.join();
    ending.join();
  }
}
