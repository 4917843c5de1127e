// Giving back Python's global lock and taking it, in threads that may outlive Python.
//
// Until Python 3.14, a thread that wants the lock while Python ends is itself ended, by unwinding its stack as
// pthread_exit does; where that meets a destructor, the process is aborted. Such threads wait for the end of the
// process here, as Python 3.14 makes them.
#ifndef HEARTH_FRONTENDS_PYTHON_GIL_H_
#define HEARTH_FRONTENDS_PYTHON_GIL_H_

#include <Python.h>
#include <unistd.h>

namespace hearth {

[[noreturn]] inline void WaitForTheEndOfTheProcess() {
  while (true) ::pause();
}

// The calling thread, which holds the lock, is without it while this lives.
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

// Any thread holds the lock while this lives.
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
