#include "frontends/python/calls.h"

namespace py = pybind11;

namespace hearth {
namespace {

thread_local LogOfCall* current_log = nullptr;

// Null after an exception, which is then the current one. Needs the GIL.
py::object Called(const py::object& callback, LogLevel level, std::string_view text) {
  constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};
  PyObject* const decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  return py::reinterpret_steal<py::object>(
      PyObject_CallFunction(callback.ptr(), "sN", kLevels[static_cast<int>(level)], decoded));
}

}  // namespace

LogOfCall::Scope::Scope(LogOfCall& log) : outer_(std::exchange(current_log, &log)) {}

LogOfCall::Scope::~Scope() {
  current_log = outer_;
}

LogOfCall* LogOfCall::Current() {
  return current_log;
}

void LogOfCall::Add(std::shared_ptr<const py::object> callback, LogLevel level, std::string_view text) {
  messages_.push_back({std::move(callback), level, std::string(text)});
}

void LogOfCall::Tell() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  for (const Message& message : std::exchange(messages_, {})) {
    if (!Called(*message.callback, message.level, message.text)) throw py::error_already_set();
  }
}

bool IsMainThread() {
  const py::object main = py::module_::import("threading").attr("main_thread")();
  return main.attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
}

void RunSignalHandlersUntil(const std::function<bool()>& is_over, const std::function<void()>& end) {
  const auto without_gil = [](const auto& work) {
    const ReleasedGil released;
    return work();
  };
  while (!without_gil(is_over)) {
    if (PyErr_CheckSignals() == 0) continue;
    py::error_already_set raised;
    without_gil(end);
    throw raised;
  }
}

void LogTo(const py::object& callback) {
  LogSink sink;
  if (!callback.is_none()) {
    // Freed under the GIL, on whichever thread drops the sink.
    const auto drop = [](const py::object* callback) {
      const AcquiredGil acquired;
      delete callback;
    };
    const std::shared_ptr<const py::object> shared(new py::object(callback), drop);
    sink = [shared](LogLevel level, std::string_view text) {
      if (LogOfCall* const log = LogOfCall::Current()) return log->Add(shared, level, text);
      const AcquiredGil acquired;
      if (!Called(*shared, level, text)) PyErr_WriteUnraisable(shared->ptr());
    };
  }
  const ReleasedGil released;
  SetLogSink(std::move(sink));
}

}  // namespace hearth
