#include "backends/cpu/xnnpack/own_threads.h"

#include <dlfcn.h>
#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <tuple>
#include <utility>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

// The type that libpthreadpool's interface declares and does not define.
struct pthreadpool {
  uint64_t mark;  // tells Hearth's pools from libpthreadpool's, which other libraries of the process may have
  hearth::WorkerPool& workers;
};

namespace hearth {
namespace {

constexpr uint64_t kMark = 0x9d5b'1f0c'48e7'a263;

// Small parts, so that threads end a loop together.
constexpr int64_t kPartsOfAThread = 16;

thread_local uint64_t own_calls = 0;

// Treats denormal numbers as zero in the calling thread, as XNNPACK asks.
class DenormalsOff {
 public:
  explicit DenormalsOff(uint32_t flags) : is_on_((flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS) != 0) {
    if (!is_on_) return;
#if defined(__SSE__)
    before_ = _mm_getcsr();
    _mm_setcsr(static_cast<unsigned>(before_) | 0x8040u);  // flush to zero, denormals are zero
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | (uint64_t{1} << 24)));
#endif
  }
  ~DenormalsOff() {
    if (!is_on_) return;
#if defined(__SSE__)
    _mm_setcsr(static_cast<unsigned>(before_));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" : : "r"(before_));
#endif
  }
  DenormalsOff(const DenormalsOff&) = delete;
  DenormalsOff& operator=(const DenormalsOff&) = delete;

 private:
  const bool is_on_;
  uint64_t before_ = 0;
};

// Whether the calling thread had invalid operands since the watch began. On x86, minima and maxima of a NaN, and
// operations that make a NaN, set a flag that stays set. The destructor restores the flag.
class InvalidWatch {
 public:
#if defined(__SSE__)
  InvalidWatch() : before_(_mm_getcsr()) {
    Set(0);
  }
  ~InvalidWatch() {
    Set(before_ & _MM_EXCEPT_INVALID);
  }
  bool saw() const {
    return (_mm_getcsr() & _MM_EXCEPT_INVALID) != 0;
  }
#else
  InvalidWatch() = default;
  bool saw() const {
    return false;
  }
#endif
  InvalidWatch(const InvalidWatch&) = delete;
  InvalidWatch& operator=(const InvalidWatch&) = delete;

#if defined(__SSE__)
 private:
  static void Set(unsigned flag) {  // writing is slower than reading
    const unsigned now = _mm_getcsr();
    if ((now & _MM_EXCEPT_INVALID) != flag) _mm_setcsr((now & ~unsigned{_MM_EXCEPT_INVALID}) | flag);
  }

  const unsigned before_;
#endif
};

thread_local bool took_nan = false;

bool IsForeign(pthreadpool_t pool) {
  return pool != nullptr && pool->mark != kMark;
}

// libpthreadpool's function of this name. It exists, because the pool is that library's.
template <typename Answer, typename... Arguments>
Answer CallNext(const char* name, Arguments... arguments) {
  return reinterpret_cast<Answer (*)(Arguments...)>(dlsym(RTLD_NEXT, name))(arguments...);
}

// Calls task(context, start in each dimension, size of each tile), the last kTiled dimensions in tiles.
template <size_t kDims, size_t kTiled, typename Task>
void Share(pthreadpool_t pool, Task task, std::array<size_t, kDims> range, std::array<size_t, kTiled> tile,
           uint32_t flags) {
  ++own_calls;
  std::array<size_t, kDims> count = range;
  for (size_t t = 0; t < kTiled; ++t) {
    const size_t d = kDims - kTiled + t;
    count[d] = (range[d] + tile[t] - 1) / tile[t];
  }
  int64_t pieces = 1;
  for (size_t dimension : count) pieces *= static_cast<int64_t>(dimension);
  if (pieces == 0) return;
  // Some pieces are a few pixels, so positions are counted up instead of divided, and a part checks the thread's flag
  // once.
  const int64_t parts = pool == nullptr ? 1 : std::min(pieces, int64_t{pool->workers.threads()} * kPartsOfAThread);
  std::atomic<bool> was_invalid = false;
  const auto part = [&](int64_t index) {
    const DenormalsOff denormals(flags);
    const InvalidWatch watch;
    const int64_t begin = pieces * index / parts, end = pieces * (index + 1) / parts;
    std::array<size_t, kDims> place;
    auto rest = static_cast<size_t>(begin);
    for (size_t d = kDims; d-- > 0; rest /= count[d]) place[d] = rest % count[d];
    for (int64_t k = begin; k < end; ++k) {
      std::array<size_t, kDims> at = place;
      std::array<size_t, kTiled> size;
      for (size_t t = 0; t < kTiled; ++t) {
        const size_t d = kDims - kTiled + t;
        at[d] *= tile[t];
        size[t] = std::min(tile[t], range[d] - at[d]);
      }
      task(at, size);
      for (size_t d = kDims; d-- > 0;) {
        if (++place[d] < count[d]) break;
        place[d] = 0;
      }
    }
    if (watch.saw()) was_invalid.store(true, std::memory_order_relaxed);
  };
  if (pool == nullptr) {
    part(0);
  } else {
    pool->workers.ForEach(parts, part);
  }
  if (was_invalid.load(std::memory_order_relaxed)) took_nan = true;
}

// Calls call(start in each dimension..., size of each tile...). `arguments`: the size of each dimension, the tiles of
// the last ones, and flags.
template <size_t kDims, typename Call, typename... Arguments>
void ShareCalls(pthreadpool_t pool, Call call, Arguments... arguments) {
  const std::array all{static_cast<size_t>(arguments)...};
  std::array<size_t, kDims> range;
  std::array<size_t, all.size() - 1 - kDims> tile;
  std::copy_n(all.begin(), range.size(), range.begin());
  std::copy_n(all.begin() + kDims, tile.size(), tile.begin());
  const auto task = [=](const auto& at, const auto& size) { std::apply(call, std::tuple_cat(at, size)); };
  Share(pool, task, range, tile, static_cast<uint32_t>(all.back()));
}

// What the function `name` of libpthreadpool does.
template <size_t kDims, typename Task, typename... Arguments>
void Parallelize(const char* name, pthreadpool_t pool, Task task, void* context, Arguments... arguments) {
  if (IsForeign(pool)) return CallNext<void>(name, pool, task, context, arguments...);
  ShareCalls<kDims>(
      pool, [=](auto... places) { task(context, places...); }, arguments...);
}

// The same of those that choose a kernel by the thread's core: every core gets the default one.
template <size_t kDims, typename Task, typename... Arguments>
void ParallelizeByCore(const char* name, pthreadpool_t pool, Task task, void* context, uint32_t kernel,
                       uint32_t last_kernel, Arguments... arguments) {
  if (IsForeign(pool)) return CallNext<void>(name, pool, task, context, kernel, last_kernel, arguments...);
  ShareCalls<kDims>(
      pool, [=](auto... places) { task(context, kernel, places...); }, arguments...);
}

}  // namespace

bool XnnpackCallsOwnThreads() {
  static const bool calls = [] {
    if (xnn_initialize(nullptr) != xnn_status_success) return false;
    const uint64_t before = own_calls;
    alignas(16) float in[8] = {}, out[8];
    xnn_operator_t op = nullptr;
    if (xnn_create_clamp_nc_f32(1, 1, 1, 0.0f, 1.0f, 0, &op) != xnn_status_success) return false;
    if (xnn_setup_clamp_nc_f32(op, 1, in, out, nullptr) == xnn_status_success) xnn_run_operator(op, nullptr);
    xnn_delete_operator(op);
    return own_calls != before;
  }();
  return calls;
}

bool TookNan() {
  return std::exchange(took_nan, false) || !XnnpackCallsOwnThreads();
}

XnnpackPool::XnnpackPool(WorkerPool& workers) {
  if (workers.threads() == 1) return;
  if (XnnpackCallsOwnThreads()) {
    own_.reset(new pthreadpool{kMark, workers});
    pool_ = own_.get();
  } else {
    pool_ = pthreadpool_create(static_cast<size_t>(workers.threads()));
  }
}

XnnpackPool::~XnnpackPool() {
  if (own_ == nullptr && pool_ != nullptr) pthreadpool_destroy(pool_);
}

}  // namespace hearth

// Exported by every library that contains Hearth: see frontends/*/exports.map.
#pragma GCC visibility push(default)
extern "C" {

size_t pthreadpool_get_threads_count(pthreadpool_t pool) {
  if (hearth::IsForeign(pool)) return hearth::CallNext<size_t>(__func__, pool);
  return pool == nullptr ? 1 : static_cast<size_t>(pool->workers.threads());
}

void pthreadpool_parallelize_1d(pthreadpool_t pool, pthreadpool_task_1d_t task, void* context, size_t i,
                                uint32_t flags) {
  hearth::Parallelize<1>(__func__, pool, task, context, i, flags);
}

void pthreadpool_parallelize_1d_tile_1d(pthreadpool_t pool, pthreadpool_task_1d_tile_1d_t task, void* context, size_t i,
                                        size_t tile_i, uint32_t flags) {
  hearth::Parallelize<1>(__func__, pool, task, context, i, tile_i, flags);
}

void pthreadpool_parallelize_2d(pthreadpool_t pool, pthreadpool_task_2d_t task, void* context, size_t i, size_t j,
                                uint32_t flags) {
  hearth::Parallelize<2>(__func__, pool, task, context, i, j, flags);
}

void pthreadpool_parallelize_2d_tile_1d(pthreadpool_t pool, pthreadpool_task_2d_tile_1d_t task, void* context, size_t i,
                                        size_t j, size_t tile_j, uint32_t flags) {
  hearth::Parallelize<2>(__func__, pool, task, context, i, j, tile_j, flags);
}

void pthreadpool_parallelize_2d_tile_2d(pthreadpool_t pool, pthreadpool_task_2d_tile_2d_t task, void* context, size_t i,
                                        size_t j, size_t tile_i, size_t tile_j, uint32_t flags) {
  hearth::Parallelize<2>(__func__, pool, task, context, i, j, tile_i, tile_j, flags);
}

void pthreadpool_parallelize_3d(pthreadpool_t pool, pthreadpool_task_3d_t task, void* context, size_t i, size_t j,
                                size_t k, uint32_t flags) {
  hearth::Parallelize<3>(__func__, pool, task, context, i, j, k, flags);
}

void pthreadpool_parallelize_3d_tile_1d(pthreadpool_t pool, pthreadpool_task_3d_tile_1d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t tile_k, uint32_t flags) {
  hearth::Parallelize<3>(__func__, pool, task, context, i, j, k, tile_k, flags);
}

void pthreadpool_parallelize_3d_tile_2d(pthreadpool_t pool, pthreadpool_task_3d_tile_2d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t tile_j, size_t tile_k, uint32_t flags) {
  hearth::Parallelize<3>(__func__, pool, task, context, i, j, k, tile_j, tile_k, flags);
}

void pthreadpool_parallelize_4d(pthreadpool_t pool, pthreadpool_task_4d_t task, void* context, size_t i, size_t j,
                                size_t k, size_t l, uint32_t flags) {
  hearth::Parallelize<4>(__func__, pool, task, context, i, j, k, l, flags);
}

void pthreadpool_parallelize_4d_tile_1d(pthreadpool_t pool, pthreadpool_task_4d_tile_1d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t l, size_t tile_l, uint32_t flags) {
  hearth::Parallelize<4>(__func__, pool, task, context, i, j, k, l, tile_l, flags);
}

void pthreadpool_parallelize_4d_tile_2d(pthreadpool_t pool, pthreadpool_task_4d_tile_2d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t l, size_t tile_k, size_t tile_l, uint32_t flags) {
  hearth::Parallelize<4>(__func__, pool, task, context, i, j, k, l, tile_k, tile_l, flags);
}

void pthreadpool_parallelize_5d(pthreadpool_t pool, pthreadpool_task_5d_t task, void* context, size_t i, size_t j,
                                size_t k, size_t l, size_t m, uint32_t flags) {
  hearth::Parallelize<5>(__func__, pool, task, context, i, j, k, l, m, flags);
}

void pthreadpool_parallelize_5d_tile_1d(pthreadpool_t pool, pthreadpool_task_5d_tile_1d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t l, size_t m, size_t tile_m, uint32_t flags) {
  hearth::Parallelize<5>(__func__, pool, task, context, i, j, k, l, m, tile_m, flags);
}

void pthreadpool_parallelize_5d_tile_2d(pthreadpool_t pool, pthreadpool_task_5d_tile_2d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t l, size_t m, size_t tile_l, size_t tile_m,
                                        uint32_t flags) {
  hearth::Parallelize<5>(__func__, pool, task, context, i, j, k, l, m, tile_l, tile_m, flags);
}

void pthreadpool_parallelize_6d(pthreadpool_t pool, pthreadpool_task_6d_t task, void* context, size_t i, size_t j,
                                size_t k, size_t l, size_t m, size_t n, uint32_t flags) {
  hearth::Parallelize<6>(__func__, pool, task, context, i, j, k, l, m, n, flags);
}

void pthreadpool_parallelize_6d_tile_1d(pthreadpool_t pool, pthreadpool_task_6d_tile_1d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t l, size_t m, size_t n, size_t tile_n,
                                        uint32_t flags) {
  hearth::Parallelize<6>(__func__, pool, task, context, i, j, k, l, m, n, tile_n, flags);
}

void pthreadpool_parallelize_6d_tile_2d(pthreadpool_t pool, pthreadpool_task_6d_tile_2d_t task, void* context, size_t i,
                                        size_t j, size_t k, size_t l, size_t m, size_t n, size_t tile_m, size_t tile_n,
                                        uint32_t flags) {
  hearth::Parallelize<6>(__func__, pool, task, context, i, j, k, l, m, n, tile_m, tile_n, flags);
}

void pthreadpool_parallelize_1d_with_uarch(pthreadpool_t pool, pthreadpool_task_1d_with_id_t task, void* context,
                                           uint32_t kernel, uint32_t last_kernel, size_t i, uint32_t flags) {
  hearth::ParallelizeByCore<1>(__func__, pool, task, context, kernel, last_kernel, i, flags);
}

void pthreadpool_parallelize_2d_tile_2d_with_uarch(pthreadpool_t pool, pthreadpool_task_2d_tile_2d_with_id_t task,
                                                   void* context, uint32_t kernel, uint32_t last_kernel, size_t i,
                                                   size_t j, size_t tile_i, size_t tile_j, uint32_t flags) {
  hearth::ParallelizeByCore<2>(__func__, pool, task, context, kernel, last_kernel, i, j, tile_i, tile_j, flags);
}

void pthreadpool_parallelize_3d_tile_2d_with_uarch(pthreadpool_t pool, pthreadpool_task_3d_tile_2d_with_id_t task,
                                                   void* context, uint32_t kernel, uint32_t last_kernel, size_t i,
                                                   size_t j, size_t k, size_t tile_j, size_t tile_k, uint32_t flags) {
  hearth::ParallelizeByCore<3>(__func__, pool, task, context, kernel, last_kernel, i, j, k, tile_j, tile_k, flags);
}

void pthreadpool_parallelize_4d_tile_2d_with_uarch(pthreadpool_t pool, pthreadpool_task_4d_tile_2d_with_id_t task,
                                                   void* context, uint32_t kernel, uint32_t last_kernel, size_t i,
                                                   size_t j, size_t k, size_t l, size_t tile_k, size_t tile_l,
                                                   uint32_t flags) {
  hearth::ParallelizeByCore<4>(__func__, pool, task, context, kernel, last_kernel, i, j, k, l, tile_k, tile_l, flags);
}
}
#pragma GCC visibility pop
