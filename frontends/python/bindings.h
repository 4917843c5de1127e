// The parts of the module hearth._hearth, and the conversion of a Status to a Python exception.
#ifndef HEARTH_FRONTENDS_PYTHON_BINDINGS_H_
#define HEARTH_FRONTENDS_PYTHON_BINDINGS_H_

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "frontends/python/calls.h"
#include "hearth/session.h"
#include "hearth/status.h"

namespace hearth {

// Makes hearth.Error, and its `code` ("not found", ...), the current exception. Needs the GIL, as Value does.
[[noreturn]] void Raise(const Status& status);

inline void RaiseUnlessOk(const Status& status) {
  if (!status.ok()) Raise(status);
}

template <typename T>
T Value(Result<T> result) {
  if (!result.ok()) Raise(result.status());
  return std::move(result).value();
}

// A path as Python text, as os.fsdecode gives it.
inline pybind11::str PathText(const std::string& path) {
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

// The bytes of any contiguous object with Python's buffer protocol, held while this object lives. BufferError if it is
// not contiguous, or not writable where it must be.
class BufferBytes {
 public:
  enum class Use { kRead, kWrite };
  BufferBytes(const pybind11::object& object, Use use);
  ~BufferBytes() { PyBuffer_Release(&view_); }
  BufferBytes(const BufferBytes&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(view_.buf), size()}; }
  std::span<std::byte> writable() { return {static_cast<std::byte*>(view_.buf), size()}; }

 private:
  size_t size() const { return static_cast<size_t>(view_.len); }
  Py_buffer view_;
};

using OptionTexts = std::map<std::string, std::string>;
using InputShapes = std::map<std::string, std::vector<int32_t>>;
// Name, version and the two functions of hearth/_ops.py.
using PythonOps = std::vector<std::tuple<std::string, std::string, pybind11::object, pybind11::object>>;
std::vector<CustomOp> CustomOpsOf(const PythonOps& ops);
SessionOptions SessionOptionsOf(const OptionTexts& texts, const InputShapes& shapes);

void BindModels(pybind11::module_& module);
void BindGraphs(pybind11::module_& module);
void BindResults(pybind11::module_& module);
void BindSessions(pybind11::module_& module);
void BindCaches(pybind11::module_& module);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_PYTHON_BINDINGS_H_
