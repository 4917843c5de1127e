#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <type_traits>

#include "core/base/error.h"
#include "frontends/python/bindings.h"
#include "hearth/results.h"
#include "hearth/session.h"
#include "runtime/results/output_meaning.h"
#include "runtime/session/session_call.h"

namespace py = pybind11;

namespace hearth {
namespace {

// The bytes of an array, or a frame. The caller keeps the arrays alive.
struct GivenInput {
  explicit GivenInput(const py::object& input) {
    if (py::isinstance<Frame>(input)) {
      frame = input.cast<Frame>();
    } else {
      bytes = std::make_unique<BufferBytes>(input, BufferBytes::Use::kRead);
    }
  }
  std::optional<Frame> frame;
  std::unique_ptr<BufferBytes> bytes;
};

Frame FrameOf(int format, int32_t width, int32_t height, const std::vector<std::array<uint64_t, 4>>& planes,
              const std::array<int32_t, 4>& crop, int32_t rotation, std::pair<bool, bool> flip, bool is_bt709,
              bool is_full_range, const std::array<float, 4>& mean, const std::array<float, 4>& scale, bool raw_bytes,
              bool is_dma_buf, uint64_t drm_modifier) {
  Frame frame{.format = static_cast<PixelFormat>(format), .width = width, .height = height};
  for (size_t k = 0; k < std::min(frame.planes.size(), planes.size()); ++k) {
    const auto& [handle, size_bytes, offset_bytes, row_pitch_bytes] = planes[k];
    frame.planes[k] = {handle, size_bytes, offset_bytes, row_pitch_bytes};
  }
  if (is_dma_buf) frame.memory = MemoryKind::kDmaBuf;
  frame.drm_modifier = drm_modifier;
  frame.crop = {crop[0], crop[1], crop[2], crop[3]};
  frame.rotation = rotation;
  frame.flip_horizontally = flip.first;
  frame.flip_vertically = flip.second;
  frame.matrix = is_bt709 ? YuvMatrix::kBt709 : YuvMatrix::kBt601;
  frame.is_full_range = is_full_range;
  frame.mean = mean;
  frame.scale = scale;
  frame.raw_bytes = raw_bytes;
  return frame;
}

// A run in flight, for as long as somebody can wait for it. Also where a signal's handler raises before a caller gets
// it. Needs the GIL.
struct Place {
  explicit Place(std::shared_ptr<std::vector<uint64_t>> abandoned) : abandoned_(std::move(abandoned)) {}
  ~Place() {
    if (number != 0) abandoned_->push_back(number);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  uint64_t number = 0;  // 0: none, or it was waited for

 private:
  const std::shared_ptr<std::vector<uint64_t>> abandoned_;
};

// A session that several Python threads can use. The GIL is released while Hearth works, and calls wait for each other.
class PythonSession {
 public:
  explicit PythonSession(Session session)
      : opened_as_(session.report().model_path, session.report().device.id),
        inputs_(session.inputs()),
        outputs_(session.outputs()),
        session_(std::move(session)) {}
  ~PythonSession() {
    try {
      Close();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("the end of a hearth.Session");
    }
  }

  // The model's path, and the device that the session began with.
  const std::pair<std::string, std::string>& opened_as() const { return opened_as_; }
  // Both, and the assignments to them, need the GIL.
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }

  void Close() {
    RaiseUnlessOk(Alone([&] {
      session_.reset();
      return Status::Ok();
    }));
  }

  // Sets inputs, runs and reads outputs in one call, so that no other thread's call comes between.
  void Run(const std::vector<py::object>& inputs, const std::vector<py::object>& outputs) {
    const auto run = [](Session& session) { return session.Run(); };
    WithBuffers(inputs, outputs, run);
  }

  std::vector<ProfileEntry> RunProfiled(const std::vector<py::object>& inputs, const std::vector<py::object>& outputs) {
    std::vector<ProfileEntry> entries;
    const auto run = [&](Session& session) -> Status {
      HEARTH_ASSIGN(entries, session.RunProfiled());
      return Status::Ok();
    };
    WithBuffers(inputs, outputs, run);
    return entries;
  }

  std::unique_ptr<Place> Submit(const std::vector<py::object>& inputs) {
    auto place = std::make_unique<Place>(abandoned_);
    WithBuffers(inputs, {}, [&](Session& session) -> Status {
      HEARTH_ASSIGN(const Ticket ticket, session.Submit());
      place->number = ticket.number;
      return Status::Ok();
    });
    return place;
  }

  // `place`: null for a number whose place the caller does not have.
  void Wait(uint64_t number, const std::vector<py::object>& outputs, Place* place) {
    WithBuffers({}, outputs, [&](Session& session) {
      const Status finished = session.Wait({number, 0});
      if (place != nullptr) place->number = 0;
      return finished;
    });
  }

  // Waits for runs that nobody else can wait for. Whether there were any.
  bool FreePlaces() {
    const std::vector<uint64_t> numbers = std::exchange(*abandoned_, {});
    RaiseUnlessOk(Locked([&](Session& session) {
      for (const uint64_t number : numbers) static_cast<void>(session.Wait({number, 0}));  // or it failed
      return Status::Ok();
    }));
    return !numbers.empty();
  }

  void Resize(const InputShapes& shapes) {
    NoteShapesOf([&](Session& session) { return session.Resize(shapes); });
  }

  void ResizeBatch(int32_t batch) {
    NoteShapesOf([&](Session& session) { return session.ResizeBatch(batch); });
  }

  std::unique_ptr<PythonSession> Clone() {
    return std::make_unique<PythonSession>(Value(Locked([](Session& session) { return session.Clone(); })));
  }

  void WaitForDevice() {
    RaiseUnlessOk(Locked([](Session& session) { return session.WaitForDevice(); }));
  }

  void ResetState() {
    RaiseUnlessOk(Locked([](Session& session) { return session.ResetState(); }));
  }

  void SaveToCache() {
    RaiseUnlessOk(Locked([](Session& session) {
      session.SaveToCache();
      return Status::Ok();
    }));
  }

  std::vector<Interpretation> Interpret(const InterpretOptions& options) {
    return Value(Locked([&](Session& session) { return hearth::Interpret(session, options); }));
  }

  std::string ReportJson() {
    return Value(Locked([](Session& session) { return Result<std::string>(session.report().ToJson()); }));
  }

 private:
  template <typename Change>
  void NoteShapesOf(Change&& change) {
    std::vector<TensorInfo> inputs, outputs;
    uint64_t number = 0;
    RaiseUnlessOk(Locked([&](Session& session) -> Status {
      for (size_t k = 0; k < has_frame_.size(); ++k) HEARTH_TRY(EndFrame(session, k));
      HEARTH_TRY(change(session));
      inputs = session.inputs();
      outputs = session.outputs();
      number = ++change_count_;
      return Status::Ok();
    }));
    if (number < noted_change_) return;  // another thread's, which came later, is noted already
    noted_change_ = number;
    inputs_ = std::move(inputs);
    outputs_ = std::move(outputs);
  }

  // In a forked process the thread that holds the lock may not exist: waiting for it would never end.
  std::unique_lock<std::recursive_mutex> Lock() {
    return IsForked() ? std::unique_lock<std::recursive_mutex>() : std::unique_lock(mutex_);
  }

  bool IsForked() const { return process_ != ::getpid(); }

  // Runs `work`, which returns a Status or Result, under the lock and without the GIL, which the caller holds. A call
  // from inside of another one, by an operator of the program's own, would wait for itself.
  template <typename Work>
  std::invoke_result_t<Work> Alone(Work&& work) {
    return WithoutGil([&]() -> std::invoke_result_t<Work> {
      const std::unique_lock<std::recursive_mutex> lock = Lock();
      if (!IsForked() && is_in_call_) return CalledFromInside();
      is_in_call_ = true;
      const std::unique_ptr<bool, void (*)(bool*)> leave(&is_in_call_, [](bool* is_in_call) { *is_in_call = false; });
      return work();
    });
  }
  template <typename Work>
  std::invoke_result_t<Work, Session&> Locked(Work&& work) {
    return Alone([&]() -> std::invoke_result_t<Work, Session&> {
      if (!session_) return Error(StatusCode::kInvalidArgument, "the session was closed");
      if (IsForked()) HEARTH_TRY(session_->Run());  // a run is refused there; its error says why
      return work(*session_);
    });
  }

  // Checks memory for all outputs or none, since another thread may have resized the session after it was allocated.
  static Status CheckFits(const std::vector<TensorInfo>& outputs,
                          const std::vector<std::unique_ptr<BufferBytes>>& wanted) {
    if (!wanted.empty() && wanted.size() != outputs.size()) {
      return Error(StatusCode::kInvalidArgument, "{} buffers were given for {} outputs", wanted.size(), outputs.size());
    }
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (wanted[k]->writable().size() == outputs[k].size_bytes) continue;
      return Error(StatusCode::kInvalidArgument, "output '{}' has {} bytes, the buffer given for it has {}",
                   outputs[k].name, outputs[k].size_bytes, wanted[k]->writable().size());
    }
    return Status::Ok();
  }

  template <typename Work>
  void WithBuffers(const std::vector<py::object>& inputs, const std::vector<py::object>& outputs, Work&& work) {
    std::vector<GivenInput> given;
    std::vector<std::unique_ptr<BufferBytes>> wanted;
    for (const py::object& input : inputs) given.emplace_back(input);
    for (const py::object& output : outputs)
      wanted.push_back(std::make_unique<BufferBytes>(output, BufferBytes::Use::kWrite));
    RaiseUnlessOk(Locked([&](Session& session) -> Status {
      for (size_t k = 0; k < given.size(); ++k) HEARTH_TRY(Give(session, k, given[k]));
      HEARTH_TRY(CheckFits(session.outputs(), wanted));
      HEARTH_TRY(work(session));
      for (size_t k = 0; k < wanted.size(); ++k) std::ranges::copy(session.output(k), wanted[k]->writable().begin());
      return Status::Ok();
    }));
  }

  // A frame stays bound until the input gets bytes, so the next frame of the same kind costs nothing.
  Status Give(Session& session, size_t k, const GivenInput& input) {
    const std::vector<TensorInfo>& inputs = session.inputs();
    if (k >= inputs.size()) return session.SetInput(k, {});
    has_frame_.resize(inputs.size());
    if (input.frame) {
      has_frame_[k] = true;
      return session.BindFrame(inputs[k].name, *input.frame);
    }
    HEARTH_TRY(EndFrame(session, k));
    return session.SetInput(k, input.bytes->bytes());
  }

  Status EndFrame(Session& session, size_t k) {
    if (!has_frame_[k]) return Status::Ok();
    has_frame_[k] = false;
    return session.UnbindInput(session.inputs()[k].name);
  }

  const std::pair<std::string, std::string> opened_as_;

  // Under the GIL: the tensors, the number of the change of shapes that they are of, and runs whose places are gone.
  std::vector<TensorInfo> inputs_, outputs_;
  uint64_t noted_change_ = 0;
  const std::shared_ptr<std::vector<uint64_t>> abandoned_ = std::make_shared<std::vector<uint64_t>>();

  // Under the lock.
  std::recursive_mutex mutex_;
  bool is_in_call_ = false;
  std::optional<Session> session_;
  uint64_t change_count_ = 0;
  std::vector<bool> has_frame_;  // by input

  const pid_t process_ = ::getpid();
};

template <typename Open>
std::unique_ptr<PythonSession> Opened(SessionOptions options, Open&& open) {
  return std::make_unique<PythonSession>(Value(Stoppable([&](const std::stop_token& stop) {
    options.stop = stop;
    return open(options);
  })));
}

std::unique_ptr<PythonSession> OpenFile(const std::string& path, const OptionTexts& texts, const InputShapes& shapes) {
  return Opened(SessionOptionsOf(texts, shapes),
                [&](const SessionOptions& options) { return Session::Open(path, options); });
}

std::unique_ptr<PythonSession> OpenModel(const Model& model, const OptionTexts& texts) {
  return Opened(SessionOptionsOf(texts, {}),
                [&](const SessionOptions& options) { return Session::Create(model, options); });
}

}  // namespace

void BindSessions(py::module_& module) {
  py::class_<ProfileEntry>(module, "ProfileEntry")
      .def_readonly("node", &ProfileEntry::node)
      .def_readonly("kernel", &ProfileEntry::kernel)
      .def_readonly("milliseconds", &ProfileEntry::milliseconds);
  py::class_<Frame>(module, "Frame")
      .def(py::init(&FrameOf), py::arg("format"), py::arg("width"), py::arg("height"), py::arg("planes"),
           py::arg("crop"), py::arg("rotation"), py::arg("flip"), py::arg("is_bt709"), py::arg("is_full_range"),
           py::arg("mean"), py::arg("scale"), py::arg("raw_bytes"), py::arg("is_dma_buf"), py::arg("drm_modifier"));
  py::class_<Place>(module, "Place").def_readonly("number", &Place::number);
  py::class_<PythonSession>(module, "Session")
      .def(py::init(&OpenFile), py::arg("path"), py::arg("options"), py::arg("shapes"))
      .def(py::init(&OpenModel), py::arg("model"), py::arg("options"), py::keep_alive<1, 2>())
      .def_property_readonly("inputs", &PythonSession::inputs)
      .def_property_readonly("outputs", &PythonSession::outputs)
      .def("run", &PythonSession::Run, py::arg("inputs"), py::arg("outputs"))
      .def("run_profiled", &PythonSession::RunProfiled, py::arg("inputs"), py::arg("outputs"))
      .def("submit", &PythonSession::Submit, py::arg("inputs"))
      .def("wait", &PythonSession::Wait, py::arg("number"), py::arg("outputs"), py::arg("place"))
      .def("free_places", &PythonSession::FreePlaces)
      .def_property_readonly("opened_as",
                             [](const PythonSession& session) {
                               const auto& [path, device] = session.opened_as();
                               return py::make_tuple(PathText(path), device);
                             })
      .def("resize", &PythonSession::Resize, py::arg("shapes"))
      .def("resize_batch", &PythonSession::ResizeBatch, py::arg("batch"))
      .def("clone", &PythonSession::Clone, py::keep_alive<0, 1>())
      .def("wait_for_device", &PythonSession::WaitForDevice)
      .def("reset_state", &PythonSession::ResetState)
      .def("save_to_cache", &PythonSession::SaveToCache)
      .def(
          "interpret",
          [](PythonSession& session, const std::string& meaning, std::vector<std::string> labels, size_t top,
             float min_score) {
            InterpretOptions options{.labels = std::move(labels), .top = top, .min_score = min_score};
            if (!meaning.empty() && !SetShown(meaning, options))
              throw py::value_error(fmt::format("meaning: '{}' is none of {}", meaning, fmt::join(ShowWords(), ", ")));
            return session.Interpret(options);
          },
          py::arg("meaning"), py::arg("labels"), py::arg("top"), py::arg("min_score"))
      .def("report_json", &PythonSession::ReportJson)
      .def("close", &PythonSession::Close);
}

}  // namespace hearth
