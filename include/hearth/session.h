// A model on a device, ready to run.
//
//   auto session = hearth::Session::Open("mobilenet.tflite", {.device = "auto"});
//   if (!session.ok()) { ... session.status().message() ... }
//   session->SetInput(0, image);                 // bytes of a dense float32 tensor
//   if (auto status = session->Run(); !status.ok()) { ... }
//   auto scores = session->output<float>(0);     // a Result: the output may hold another type
#ifndef HEARTH_SESSION_H_
#define HEARTH_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hearth/cache_types.h"
#include "hearth/element_type.h"
#include "hearth/export.h"
#include "hearth/frame.h"
#include "hearth/interop.h"
#include "hearth/model.h"
#include "hearth/report.h"
#include "hearth/status.h"

namespace hearth {

// How far tuning is.
struct TuningProgress {
  size_t done = 0, total = 0;         // layers
  std::string layer, chosen;          // the one measured last; empty before the first
  double chosen_ms = 0, rule_ms = 0;  // its time by the kernel chosen, and by the one that rules choose
};

struct SessionOptions {
  // "auto", "cpu", "gpu" (the first usable hardware GPU), a backend ("opencl", "vulkan", "gles"), "opencl:1", a UUID,
  // or part of one device's name; capitals don't matter.
  std::string device = "auto";
  // Empty, or a device that a software driver stands in for (SimulatedDevices lists them): its limits, rules and paths,
  // with right results and times that say nothing.
  std::string simulate;
  // "fp32", "fp32_16", "fp16"; what the device can't do falls back with a warning. Empty: as `priority` says.
  std::string precision;
  // "fast_single_answer": few distinct programs, ready soon; "balanced"; "sustained_speed": also kernels that cost a
  // start more than they save in a few runs.
  std::string preference = "balanced";
  // What counts most, first: of "precision", "latency", "memory", each at most once; those left out follow in the
  // TFLite delegate's order. Precision first means fp32, second fp32_16, third fp16. Memory before latency leaves out
  // kernels that need memory between their dispatches.
  std::vector<std::string> priority = {"precision"};
  // Measures kernels for the layers of this model before the first run: "off"; "fast": the likeliest candidates;
  // "full": all. Winners are kept in the cache, for every later start and every model with the same layer.
  std::string tune = "off";
  std::function<void(const TuningProgress&)> on_tuning;  // called before the first layer and after each
  bool use_cache = true;
  std::string cache_folder;  // empty: $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth
  std::vector<std::string>
      cache_layers;                 // read-only folders that are asked first, before those of $HEARTH_CACHE_LAYERS
  std::string cache_layer_keys;     // file of the public keys whose layers are used; empty: $HEARTH_CACHE_LAYER_KEYS
  bool trust_cache_layers = false;  // use layers that no such key has signed
  uint64_t cache_max_bytes = 0;     // 0: $HEARTH_CACHE_MAX_SIZE ("512M"), else 1 GiB
  int cache_wait_ms = 250;          // what a session waits in all for the cache's locks and servers
  bool cache_read_only = false;     // use what is there, store nothing
  KeyValueStore* cache_store = nullptr;  // the caller's own instead of a folder; must outlive the session
  CacheServer cache_server;      // empty: $HEARTH_CACHE_SERVER, $HEARTH_CACHE_SERVER_KEYS, $HEARTH_CACHE_SERVER_SIGN
  CacheObserver on_cache_event;  // hits, misses, rejects and what was stored, as they happen
  std::string model_token;       // only ever adds to cache keys
  SharedContext shared;          // what the program opened itself and lends: the session works there
  int max_in_flight = 2;         // runs that may be submitted and not yet waited for
  std::vector<std::string> cpu_ops;  // operations to keep on the CPU: "softmax", "op:7"
  // "ready": the session opens when its device is ready. "hot": it opens when the CPU is, which answers while the
  // device is opened, compiled for and filled behind it at low priority; between two runs the session moves over,
  // states included, once the device is ready and was measured faster, or never, and the report says why. Empty: "hot"
  // under "auto" where a hardware GPU finds nothing of the model in the cache, else "ready".
  std::string start;
  // What weights, intermediate values, states, inputs and outputs may take on host and device together; where the plan
  // that needs least takes more, the session is refused with the bytes that it needs. 0: no limit.
  uint64_t memory_limit_bytes = 0;
  // What a run waits for its device, in milliseconds; a device that takes longer counts as lost: a fence of a driver
  // that hangs never signals. A loop on the CPU ends then, too: kResourceExhausted. 0: without end. -1: 60 s for
  // devices that are hardware, of which no driver lets a healthy run take that long, and without end for all else.
  int wait_limit_ms = -1;
  // A named device that is not usable or fails, at the start or in a run, is left for the next one as under "auto":
  // hardware GPUs first, the CPU last.
  bool next_device = false;
  std::string rules;   // driver rules forced on or off, "+wide_stores,-texel_reads"; DeviceDescription lists them
  int threads = 0;     // 0: what affinity, cgroup quota and machine give
  ModelOptions model;  // for Open; Create takes a model that was read with its own
  int kept_shapes =
      4;  // what Resize leaves ready of shapes that the session had before, least recently used ones leave
};

// A dispatch or host step of a profiled run.
struct ProfileEntry {
  std::string node, kernel;
  double milliseconds = 0;
};

// A run that was submitted.
struct Ticket {
  uint64_t number = 0;
  // With SubmitOptions::make_fence: a GLsync or cl_event behind the run's last command, which the program destroys.
  uint64_t fence = 0;
};

// What a run waits for must come some day: until then Wait, and the session's destructor, wait too.
struct SubmitOptions {
  std::vector<SyncPoint> wait_for;  // GLsync, VkSemaphore or cl_event: before the run reads or writes lent memory
  std::vector<SyncPoint> signal;    // VkSemaphores, when it is done with all lent memory
  bool make_fence = false;          // OpenGL ES and OpenCL
};

struct SessionData;  // internal

// For one thread at a time, any thread.
class HEARTH_EXPORT Session {
 public:
  // Reads the model while the device opens. Errors: as Model::FromFile; kUnavailable when the named device
  // is not usable; kUnsupported when an operator can run nowhere. Cache trouble is a warning in the report.
  static Result<Session> Open(const std::string& model_path, const SessionOptions& options);
  // `model` must outlive the session.
  static Result<Session> Create(const Model& model, const SessionOptions& options);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // A second session of the same model on the same device, as this one stands: present shapes, options, cache. Both
  // read one copy of the weights in the device's memory (on the CPU, too, but for the few that XNNPACK packs itself);
  // inputs, outputs, states and what Resize does are each session's own. They may be used from different threads at
  // once, and either may be destroyed first; a model that Create was given must outlive both. For a hot start: of what
  // answers now. Errors: as Create.
  Result<Session> Clone();

  const Model& model() const;  // the one that Open read or Create was given, with the present shapes
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  // Other shapes of inputs, by name or alias; inputs that are not named stay as they are. The plan for the new shapes
  // is made for the open device, with the weights that lie there already wherever they are packed alike. The one before
  // stays ready (SessionOptions::kept_shapes), so that going back costs next to nothing. Inputs must be set anew, and
  // inputs(), outputs() and output() are those of the new shapes. What the model remembers goes along where all of its
  // states keep their shapes, else it becomes zero. Plans and programs go into the cache as those of a session that is
  // opened with these shapes. During a hot start the device behind is made ready for the new shapes.
  // On an error the session goes on with the shapes that it has. kInvalidArgument for a wrong name, a shape that the
  // model cannot take (the message names input and operator), runs in flight, inputs or outputs that are bound, and a
  // broken memory limit; otherwise as Create.
  Status Resize(const std::map<std::string, std::vector<int32_t>>& shapes);
  // The first dimension of every input.
  Status ResizeBatch(int32_t batch);

  // Copies a dense tensor in the input's own type. kInvalidArgument for a wrong index, name or size.
  Status SetInput(size_t index, std::span<const std::byte> bytes);
  Status SetInput(std::string_view name, std::span<const std::byte> bytes);
  // The same from elements: SetInput<float>(0, values). kInvalidArgument also where the input holds another type.
  template <typename T>
  Status SetInput(size_t index, std::type_identity_t<std::span<const T>> elements) {
    const Status status = CheckElements(inputs(), index, "input", ElementTypeName<T>());
    return status.ok() ? SetInput(index, std::as_bytes(elements)) : status;
  }

  // Runs once, waits. kInvalidArgument when an input was never set.
  Status Run();
  Result<std::vector<ProfileEntry>> RunProfiled();

  // The same on the caller's memory: dense tensors in the order of inputs() and outputs(), read and written in place of
  // what SetInput and output(index) hold, which stay as they are. An input may be an output's memory. kInvalidArgument
  // for a wrong number or size.
  Status Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs);
  Result<std::vector<ProfileEntry>> RunProfiled(std::span<const std::span<const std::byte>> inputs,
                                                std::span<const std::span<std::byte>> outputs);

  // A run in two halves. Submit hands a run with the inputs set so far to the device and returns without waiting for
  // it; inputs may be set anew at once. Runs take effect in the order of Submit. Nodes on the CPU are computed in
  // Submit, after waiting for what they read. Errors: as Run; kResourceExhausted when max_in_flight runs are not waited
  // for yet; kUnsupported for synchronization that the device does not know.
  Result<Ticket> Submit(const SubmitOptions& options = {});
  // Waits for a run and makes its outputs those of output(). Each ticket once, in any order.
  Status Wait(const Ticket& ticket);

  // From now on the input is read from, the output written to memory that the program lends (see Binding), by each run
  // at its time: SetInput and output() no longer count for it, and nothing is copied between host and device. With
  // MemoryKind::kHost the session reads the memory in Submit and writes it in Wait. The memory must stay alive until
  // the session is gone or has another binding and runs that were submitted before are waited for.
  // kInvalidArgument for a wrong name, size, format or object; kUnsupported where the CPU reads the input or makes the
  // output, for memory of another driver than the session's, and for integer tensors.
  Status BindInput(std::string_view name, const Binding& binding);
  Status BindOutput(std::string_view name, const Binding& binding);
  // From now on the input is made of a picture (see Frame): in a run of its own each time, by a kernel in front of the
  // model's first, on the CPU by the host. A frame in host memory is read in Run or Submit; call it again for the next
  // one, which costs next to nothing where formats stay. Bytes of the frame that no result depends on do not cross to
  // the device. Errors as BindInput; kInvalidArgument also for a frame that is none. Run on the caller's memory takes
  // no frames.
  Status BindFrame(std::string_view name, const Frame& frame);
  // Back to SetInput and output().
  Status UnbindInput(std::string_view name);
  Status UnbindOutput(std::string_view name);

  // What the model remembers between runs (variable tensors: the state of an LSTM, an accumulator) becomes zero
  // again, as before the first run. Nothing to do for a model without state.
  Status ResetState();

  // After a hot start: returns when the device behind is ready, was moved to, or was given up, and then says why. At
  // once after another start. The next run may be the device's.
  Status WaitForDevice();

  // The result of the last Run, or of the run that Wait was last called for; valid until the next Run, or until as many
  // runs as can be in flight were submitted. Precondition: index < outputs().size().
  std::span<const std::byte> output(size_t index) const;
  // The same as elements: output<float>(0). kInvalidArgument for a wrong index and where the output holds another type.
  template <typename T>
  Result<std::span<const T>> output(size_t index) const {
    const Status status = CheckElements(outputs(), index, "output", ElementTypeName<T>());
    if (!status.ok()) return status;
    const std::span<const std::byte> bytes = output(index);
    return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }

  // Stores in the cache what was made since the last call. Call it after the first result was used: it is not on the
  // way to the first result. A later call stores what bindings and runs in flight had to compile. So does the
  // destructor. After a hot start it stores what the device behind made once that is ready (WaitForDevice).
  void SaveToCache();

  const Report& report() const;

 private:
  friend Result<Session> CreateSession(std::unique_ptr<SessionData> data);
  static Status CheckElements(const std::vector<TensorInfo>& tensors, size_t index, std::string_view kind,
                              std::string_view type);
  explicit Session(std::unique_ptr<SessionData> data);
  std::unique_ptr<SessionData> data_;
};

}  // namespace hearth

#endif  // HEARTH_SESSION_H_
