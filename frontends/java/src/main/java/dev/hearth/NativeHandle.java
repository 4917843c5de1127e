package dev.hearth;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * An object of the native library, freed once: by {@link #close}, when the collector finds that its owner was forgotten,
 * or at the end of the process. Until then no call can meet a freed object, because freeing waits for the calls.
 */
final class NativeHandle extends PhantomReference<Object> {
  private static final ReferenceQueue<Object> FORGOTTEN = new ReferenceQueue<>();
  private static final Set<NativeHandle> OPEN = ConcurrentHashMap.newKeySet();
  // Native memory does not make the collector run, however much of it forgotten objects hold.
  private static final int COLLECT_FROM = 64;
  private static volatile int collectAt = COLLECT_FROM;

  static {
    Thread cleaner = new Thread(NativeHandle::freeForgotten, "hearth-cleaner");
    cleaner.setDaemon(true);
    cleaner.start();
    // Drivers end with the process: no thread may be inside of one then.
    Runtime.getRuntime().addShutdownHook(new Thread(NativeHandle::closeAll, "hearth-end"));
  }

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final String what;
  private final LongConsumer free;
  private long address; // 0: closed

  /** {@code owner} must not be reachable from {@code free}. */
  NativeHandle(Object owner, String what, long address, LongConsumer free) {
    super(owner, FORGOTTEN);
    this.what = what;
    this.address = address;
    this.free = free;
    OPEN.add(this);
  }

  /** Called before an object is made. Where many are open it lets the collector look for forgotten ones. */
  static void makeRoom() {
    if (OPEN.size() < collectAt) return;
    System.gc();
    collectAt = Math.max(COLLECT_FROM, 2 * OPEN.size());
  }

  /** Calls {@code work} with the object, while no other thread uses it. */
  <T> T alone(LongFunction<T> work) {
    return locked(lock.writeLock(), work);
  }

  /** Calls {@code work} with the object, which other threads may use at the same time. */
  <T> T shared(LongFunction<T> work) {
    return locked(lock.readLock(), work);
  }

  private <T> T locked(java.util.concurrent.locks.Lock use, LongFunction<T> work) {
    use.lock();
    try {
      if (address == 0) throw HearthException.invalid("the %s was closed", what);
      return work.apply(address);
    } finally {
      use.unlock();
    }
  }

  /** Waits for the calls that use the object, and frees it. Later calls do nothing. */
  void close() {
    lock.writeLock().lock();
    try {
      if (address == 0) return;
      long last = address;
      address = 0;
      free.accept(last);
      OPEN.remove(this); // afterwards, so that the end of the process waits for whoever is freeing it
    } finally {
      lock.writeLock().unlock();
    }
  }

  private static void freeForgotten() {
    while (true) {
      try {
        ((NativeHandle) FORGOTTEN.remove()).close();
      } catch (InterruptedException | RuntimeException goesOn) {
        // The next one may be freed all the same.
      }
    }
  }

  /** For the end of the process: waits until each object is freed, whoever frees it. */
  static void closeAll() {
    for (NativeHandle handle : OPEN) handle.close();
  }
}
