// The module hearth._hearth. Its classes take and return plain values. The package hearth around it adds numpy, names
// and documentation.
#include "core/base/text.h"
#include "frontends/python/bindings.h"
#include "hearth/array.h"
#include "hearth/device.h"
#include "hearth/session_option.h"
#include "hearth/version.h"

namespace py = pybind11;

namespace hearth {

void Raise(const Status& status) {
  const py::object type = py::module_::import("hearth._hearth").attr("Error");
  // A message may contain a path that is not UTF-8.
  const py::object error = type(ValidUtf8(status.message()));
  error.attr("code") =
      py::module_::import("hearth._errors").attr("ErrorCode")(std::string(StatusCodeName(status.code())));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

BufferBytes::BufferBytes(const py::object& object, Use use) {
  const int flags = use == Use::kWrite ? PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE : PyBUF_C_CONTIGUOUS;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw py::error_already_set();
}

SessionOptions SessionOptionsOf(const OptionTexts& texts, const InputShapes& shapes) {
  SessionOptions options;
  for (const auto& [name, value] : texts) RaiseUnlessOk(SetSessionOption(options, name, value));
  options.model.input_shapes = shapes;
  return options;
}

namespace {

py::list DeviceList() {
  const std::vector<DeviceDescription> devices = WithoutGil([] { return ListDevices(); });
  py::list list;
  for (const DeviceDescription& device : devices) {
    py::dict dict;
    dict["id"] = device.id;
    dict["backend"] = device.backend;
    dict["name"] = device.name;
    dict["driver"] = device.driver;
    dict["type"] = device.type;
    dict["usable"] = device.usable;
    dict["reason"] = ValidUtf8(device.reason);  // as an error's message
    dict["features"] = device.features;
    list.append(dict);
  }
  return list;
}

void CheckArrayOf(const TensorInfo& tensor, const std::string& dtype, const std::vector<int64_t>& shape) {
  const Status fits = CheckArray(tensor, dtype, shape);
  if (!fits.ok()) throw py::value_error(fits.message());
}

std::vector<std::pair<std::string, std::string>> OptionNames() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const SessionOptionName& option : SessionOptionNames()) names.emplace_back(option.name, option.values);
  return names;
}

}  // namespace
}  // namespace hearth

PYBIND11_MODULE(_hearth, module) {
  module.attr("__version__") = HEARTH_VERSION;
  py::object error = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "hearth.Error", "What Hearth could not do: one sentence; `code` is 'invalid argument', 'not found', ...",
      PyExc_RuntimeError, nullptr));
  error.attr("code") = "internal error";
  module.attr("Error") = error;
  module.def("devices", &hearth::DeviceList);
  module.def("log_to", &hearth::LogTo, py::arg("callback"));
  module.def("option_names", &hearth::OptionNames);
  module.def("check_array", &hearth::CheckArrayOf, py::arg("tensor"), py::arg("dtype"), py::arg("shape"));
  hearth::BindModels(module);
  hearth::BindGraphs(module);
  hearth::BindResults(module);
  hearth::BindSessions(module);
  hearth::BindCaches(module);
}
