// XNNPACK on Hearth's WorkerPool.
//
// XNNPACK divides its loops by calls of libpthreadpool, whose threads spin for up to a million turns while they wait
// for each other. If two of them share a core, a loop of microseconds takes a scheduler's time slice (MobileNet v1 0.25
// with two threads on one core: 450 to 1,000 ms instead of 0.8). No flag turns that off for the calling thread. So this
// file defines functions with the names of libpthreadpool's, which the dynamic linker finds first.
#ifndef HEARTH_BACKENDS_CPU_XNNPACK_OWN_THREADS_H_
#define HEARTH_BACKENDS_CPU_XNNPACK_OWN_THREADS_H_

#include <pthreadpool.h>

#include <memory>

#include "backends/cpu/host/worker_pool.h"

namespace hearth {

// Whether XNNPACK calls this file's functions. It does not in a process that bound it to another library's earlier.
bool XnnpackCallsOwnThreads();

// Whether an XNNPACK operator that the calling thread ran since the last call may have met a NaN, or made one from
// numbers. Always false if minima and maxima keep NaN (ARM), always true if XnnpackCallsOwnThreads is false.
bool TookNan();

// XNNPACK's handle of a WorkerPool, which must outlive it. If XnnpackCallsOwnThreads is false, it is a pool of
// libpthreadpool with as many threads. Null, which means the calling thread, for a pool of one thread.
class XnnpackPool {
 public:
  explicit XnnpackPool(WorkerPool& workers);
  ~XnnpackPool();
  XnnpackPool(const XnnpackPool&) = delete;
  XnnpackPool& operator=(const XnnpackPool&) = delete;

  pthreadpool_t get() const { return pool_; }

 private:
  std::unique_ptr<pthreadpool> own_;
  pthreadpool_t pool_ = nullptr;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_XNNPACK_OWN_THREADS_H_
