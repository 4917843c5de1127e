// Sessions that are opened to fill the cache ahead of time.
#ifndef HEARTH_FRONTENDS_API_WARMING_H_
#define HEARTH_FRONTENDS_API_WARMING_H_

namespace hearth {

// While one lives, sessions that its thread opens spare later starts what they can, however long that takes: kernels
// that share a program are all compiled into one of their own, whatever other models' programs hold.
class Warming {
 public:
  Warming() { ++count; }
  ~Warming() { --count; }
  Warming(const Warming&) = delete;
  Warming& operator=(const Warming&) = delete;

  // Whether the calling thread's sessions are such.
  static bool IsNow() { return count > 0; }

 private:
  static inline thread_local int count = 0;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_WARMING_H_
