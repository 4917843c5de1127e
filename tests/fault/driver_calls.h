// Calls of a backend to its driver, counted by name; the Nth may fail. A backend's tables of functions are filled with
// these instead of the driver's, see TheTableFilters of each driver_api.h; of OpenGL ES, libepoxy's pointers are.
#ifndef HEARTH_TESTS_FAULT_DRIVER_CALLS_H_
#define HEARTH_TESTS_FAULT_DRIVER_CALLS_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hearth::testing {

enum class DriverFault : uint8_t {
  kLost,         // this call and all after it fail: the device is gone
  kOutOfMemory,  // this call fails, and the next one works again
  kRefused,      // the same, with an error that says nothing
};

// Of the whole process. Thread-safe.
class DriverCalls {
 public:
  // From now on calls are counted from 1; the `call`th fails, none where it is 0.
  void Start(int call, DriverFault fault);
  // Ends that. The names of the calls in their order.
  std::vector<std::string> Stop();
  bool has_failed() const;

  // Asked by each call that can fail.
  std::optional<DriverFault> Next(const char* name);
  // What the driver holds for the backend: objects that it made and that were not given back.
  void NoteMade(int objects);
  int held_objects() const;

 private:
  mutable std::mutex mutex_;
  bool is_counting_ = false, has_failed_ = false;
  int call_ = 0, held_objects_ = 0;
  DriverFault fault_ = DriverFault::kLost;
  std::vector<std::string> names_;
};
DriverCalls& TheDriverCalls();

// Stands in for the driver's function behind a pointer, kPointer. `Rules` says of an API
//   static bool CanFail<R>(name), bool Waits(name), R Failed<R>(fault, name, arguments...), int Made<R>(name, result,
//   arguments...)
template <typename Rules, auto kPointer, typename R, typename... A>
struct CountedCall {
  static inline R (*driver)(A...) = nullptr;
  static inline const char* name = "";

  static R Call(A... arguments) {
    if (Rules::template CanFail<R>(name)) {
      if (const auto fault = TheDriverCalls().Next(name)) {
        // A device that is lost runs nothing any more; this one does, in memory that is given back next.
        if (Rules::Waits(name)) static_cast<void>(driver(arguments...));
        return Rules::template Failed<R>(*fault, name, arguments...);
      }
    }
    if constexpr (std::is_void_v<R>) {
      driver(arguments...);
      TheDriverCalls().NoteMade(Rules::Made(name, 0, arguments...));
    } else {
      const R result = driver(arguments...);
      TheDriverCalls().NoteMade(Rules::Made(name, result, arguments...));
      return result;
    }
  }

  static void PutInto(R (*&pointer)(A...), R (*of_driver)(A...), const char* called) {
    if (of_driver == nullptr || pointer == &Call) return;
    driver = of_driver;
    pointer = &Call;
    name = called;
  }
};

template <typename Rules, auto kPointer>
struct DriverCall;

// kPointer is a member of a table.
template <typename Rules, typename Table, typename R, typename... A, R (*Table::*kMember)(A...)>
struct DriverCall<Rules, kMember> : CountedCall<Rules, kMember, R, A...> {
  static void Put(Table& table, const char* called) { DriverCall::PutInto(table.*kMember, table.*kMember, called); }
};

// kPointer is a variable.
template <typename Rules, typename R, typename... A, R (**kVariable)(A...)>
struct DriverCall<Rules, kVariable> : CountedCall<Rules, kVariable, R, A...> {
  static void Put(R (*of_driver)(A...), const char* called) { DriverCall::PutInto(*kVariable, of_driver, called); }
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_FAULT_DRIVER_CALLS_H_
