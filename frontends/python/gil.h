// Releases and takes Python's global lock in threads that may outlive Python.
// Until Python 3.14, a thread that takes the lock while Python ends is itself ended, by unwinding its stack like
// pthread_exit; unwinding through a destructor aborts the process. Here such threads wait for the end of the process,
// as in Python 3.14.
#ifndef HEARTH_FRONTENDS_PYTHON_GIL_H_
#define HEARTH_FRONTENDS_PYTHON_GIL_H_

#include <Python.h>
#include <unistd.h>

namespace hearth {

[[noreturn]] inline void WaitForTheEndOfTheProcess() {
  while (true) ::pause();
}

// While this object lives, the calling thread, which holds the lock, is without it.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // the unwinding
      WaitForTheEndOfTheProcess();
    }
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// While this object lives, the calling thread holds the lock.
class AcquiredGil {
 public:
  AcquiredGil() : state_(Acquired()) {}
  ~AcquiredGil() { PyGILState_Release(state_); }
  AcquiredGil(const AcquiredGil&) = delete;
  AcquiredGil& operator=(const AcquiredGil&) = delete;

 private:
  static PyGILState_STATE Acquired() {
    try {
      return PyGILState_Ensure();
    } catch (...) {  // the unwinding
      WaitForTheEndOfTheProcess();
    }
  }

  PyGILState_STATE state_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_PYTHON_GIL_H_
