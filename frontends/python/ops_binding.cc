// Operators whose functions are Python's.
#include "core/base/error.h"
#include "core/graph/types.h"
#include "frontends/python/bindings.h"

namespace py = pybind11;

namespace hearth {
namespace {

// As hearth/_ops.py takes it: dtype, shape, memory, scales, zero points.
py::object TupleOf(const hearth_op_tensor& tensor, bool is_writable) {
  if (tensor.dtype == nullptr) return py::none();
  py::tuple shape(tensor.rank);
  for (size_t d = 0; d < shape.size(); ++d) shape[d] = tensor.shape[d];
  py::object memory = py::none();
  const auto size_bytes = static_cast<py::ssize_t>(tensor.size_bytes);
  if (tensor.data != nullptr) memory = py::memoryview::from_memory(tensor.data, size_bytes, !is_writable);
  py::tuple scales(tensor.scale_count), zero_points(tensor.zero_point_count);
  for (size_t k = 0; k < scales.size(); ++k) scales[k] = tensor.scales[k];
  for (size_t k = 0; k < zero_points.size(); ++k) zero_points[k] = tensor.zero_points[k];
  return py::make_tuple(tensor.dtype, shape, memory, scales, zero_points);
}

py::list ListOf(const hearth_op_tensor* tensors, size_t count, bool is_writable) {
  py::list list;
  for (size_t k = 0; k < count; ++k) list.append(TupleOf(tensors[k], is_writable));
  return list;
}

py::dict AttributesOf(const hearth_op_call& call) {
  py::dict attributes;
  if (call.options_bytes > 0)
    attributes["options"] = py::bytes(static_cast<const char*>(call.options), call.options_bytes);
  for (size_t k = 0; k < call.attribute_count; ++k) {
    const hearth_op_attribute& attribute = call.attributes[k];
    py::list values;
    for (size_t i = 0; i < attribute.int_count; ++i) values.append(attribute.ints[i]);
    for (size_t i = 0; i < attribute.float_count; ++i) values.append(attribute.floats[i]);
    for (size_t i = 0; i < attribute.text_count; ++i)
      values.append(py::bytes(attribute.texts[i].text, attribute.texts[i].size_bytes));
    attributes[attribute.name] = attribute.is_list != 0 ? py::object(values) : py::object(values[0]);
  }
  return attributes;
}

// Calls Python. A thread that Python ends in there, because the process ends, waits (calls.h): unwinding would go
// through Python's objects without its lock.
py::object Called(const py::object& function, const py::tuple& arguments) {
  PyObject* result = nullptr;
  try {
    result = PyObject_CallObject(function.ptr(), arguments.ptr());
  } catch (...) {
    WaitForTheEndOfTheProcess();
  }
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

class PythonOperator final : public CustomOperator {
 public:
  PythonOperator(py::object infer, py::object run) : infer_(std::move(infer)), run_(std::move(run)) {}
  ~PythonOperator() override {
    if (Py_IsInitialized() == 0) {  // nobody can release them any more
      infer_.release();
      run_.release();
      return;
    }
    const AcquiredGil gil;
    infer_ = run_ = py::object();
  }
  PythonOperator(const PythonOperator&) = delete;
  PythonOperator& operator=(const PythonOperator&) = delete;

  Status Infer(const hearth_op_call& call) const override {
    return WithPython([&]() -> Status {
      const py::object made = Called(
          infer_, py::make_tuple(ListOf(call.inputs, call.input_count, false), call.output_count, AttributesOf(call)));
      const auto outputs = made.cast<std::vector<std::pair<std::string, std::vector<int32_t>>>>();
      for (size_t k = 0; k < outputs.size(); ++k) {
        const auto& [name, shape] = outputs[k];
        const std::optional<DType> dtype = DTypeFromName(name);
        if (!dtype || shape.size() > HEARTH_OPS_MAX_RANK) {
          return Error(StatusCode::kInvalidArgument, "output {} has the type '{}' and the rank {}", k, name,
                       shape.size());
        }
        call.outputs[k].dtype = DTypeName(*dtype).data();
        call.outputs[k].rank = static_cast<int32_t>(shape.size());
        std::ranges::copy(shape, call.outputs[k].shape);
      }
      return Status::Ok();
    });
  }

  Status Run(const hearth_op_call& call) const override {
    return WithPython([&] {
      Called(run_, py::make_tuple(ListOf(call.inputs, call.input_count, false),
                                  ListOf(call.outputs, call.output_count, true), AttributesOf(call)));
      return Status::Ok();
    });
  }

 private:
  template <typename Work>
  static Status WithPython(Work&& work) {
    const AcquiredGil gil;
    try {
      return work();
    } catch (py::error_already_set& error) {
      const std::string type = py::str(error.type().attr("__name__")), text = py::str(error.value());
      // ^C: the call into Hearth raises it when it ends.
      if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
      return Error(StatusCode::kInvalidArgument, "{}: {}", type, text);
    } catch (const py::cast_error&) {
      return Error(StatusCode::kInvalidArgument, "a shape has a size that int32 does not hold");
    }
  }

  py::object infer_, run_;
};

}  // namespace

std::vector<CustomOp> CustomOpsOf(const PythonOps& ops) {
  std::vector<CustomOp> made;
  for (const auto& [name, version, infer, run] : ops)
    made.push_back({name, version, std::make_shared<PythonOperator>(infer, run)});
  return made;
}

}  // namespace hearth
