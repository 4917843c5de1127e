// Errors as values: every fallible Hearth function returns Status or Result<T>.
//
// A message says what went wrong, where, and what to do. Callers add context with Status::Within, so a message reads
// like a call stack from outside to inside.
#ifndef HEARTH_STATUS_H_
#define HEARTH_STATUS_H_

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "hearth/export.h"

namespace hearth {

enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,    // the caller's mistake: wrong name, shape or option
  kMalformedInput,     // a model, image or array that breaks its format's rules
  kNotFound,           // a file or name that does not exist
  kUnsupported,        // well-formed, but nothing here can run it
  kUnavailable,        // the requested device or driver is not usable
  kResourceExhausted,  // out of memory, disk or a device limit
  kDeviceLost,         // the driver failed while running
  kIoError,            // the operating system refused a read or write
  kInternal,           // an internal error of Hearth
};

// "invalid argument", "malformed input", ...
HEARTH_EXPORT std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return Status(); }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error with "context: " before its message; Ok stays Ok.
  Status Within(std::string_view context) const {
    if (ok()) return *this;
    return Status(code_, std::string(context) + ": " + message_);
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the error that occurred instead.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : state_(std::in_place_index<0>, std::move(status)) {}  // NOLINT(google-explicit-constructor)
  // From what converts to T: nullptr, a pointer to a derived class, the Result of one.
  template <typename U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T>) Result(U&& value)
      : state_(std::in_place_index<1>, std::forward<U>(value)) {}  // NOLINT(google-explicit-constructor)
  template <typename U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<U, T>) Result(Result<U> other)
      : Result(other.status()) {  // NOLINT(google-explicit-constructor)
    if (other.ok()) state_.template emplace<1>(std::move(other).value());
  }

  bool ok() const { return state_.index() == 1; }
  Status status() const { return ok() ? Status() : std::get<0>(state_); }

  // Precondition: ok().
  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& Checked() {
    if (!ok()) std::abort();  // a bug of the caller: value() without ok()
    return std::get<1>(state_);
  }

  std::variant<Status, T> state_;
};

}  // namespace hearth

#endif  // HEARTH_STATUS_H_
