// XNNPACK on Hearth's WorkerPool.
//
// XNNPACK shares its loops out by calls of libpthreadpool, whose threads wait awake for each other for up to a million
// turns: where two of them share a core, a loop of microseconds takes a scheduler's slice (MobileNet v1 0.25 with two
// threads on one core: 450 to 1,000 ms instead of 0.8). No flag turns that off for the calling thread. This file's
// functions have the names of libpthreadpool's, and the dynamic linker finds them first.
#ifndef HEARTH_BACKENDS_CPU_XNNPACK_OWN_THREADS_H_
#define HEARTH_BACKENDS_CPU_XNNPACK_OWN_THREADS_H_

#include <pthreadpool.h>

#include <memory>

#include "backends/cpu/worker_pool.h"

namespace hearth {

// Whether XNNPACK calls this file's functions. It does not in a process that has bound it to another library's before.
bool XnnpackCallsOwnThreads();

// Whether an XNNPACK operator that ran on the calling thread's behalf since the last call may have met a NaN, or made
// one of numbers. Always false where minima and maxima keep NaN (ARM), always true where XnnpackCallsOwnThreads is
// false.
bool TookNan();

// What XNNPACK takes for a pool of threads. The WorkerPool must outlive it. Where XnnpackCallsOwnThreads is false this
// is one of libpthreadpool's, with as many threads. Null, which is the calling thread, for a pool of one thread.
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
