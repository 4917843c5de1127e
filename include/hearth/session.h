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
#include <stop_token>
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

// The progress of tuning.
struct TuningProgress {
  size_t done = 0, total = 0;         // layers
  std::string layer, chosen;          // the layer measured last and its kernel; empty before the first
  double chosen_ms = 0, rule_ms = 0;  // its time with that kernel, and with the rules' choice
};

struct SessionOptions {
  // "auto", "cpu", "gpu" (the first usable hardware GPU), a backend ("opencl", "vulkan", "gles"), "opencl:1", a UUID,
  // or part of one device's name; capitals don't matter.
  std::string device = "auto";
  // Empty, or a device that a software driver simulates (SimulatedDevices lists them), with its limits, rules and code
  // paths. Results are right; times say nothing about the device.
  std::string simulate;
  // "fp32", "fp32_16" or "fp16"; falls back with a warning if the device can't do it. Empty: as `priority` says.
  std::string precision;
  // "fast_single_answer": few distinct programs, ready soon; "balanced"; "sustained_speed": also kernels that cost more
  // at the start than they save in a few runs.
  std::string preference = "balanced";
  // "precision", "latency" and "memory", most important first, each at most once; missing ones follow in the TFLite
  // delegate's order. Precision first means fp32, second fp32_16, third fp16. Memory before latency excludes kernels
  // that need scratch memory.
  std::vector<std::string> priority = {"precision"};
  // Measures kernels for this model's layers before the first run: "off"; "fast": the likeliest candidates; "full":
  // all. The cache keeps the winners for every later start and every model with the same layer.
  std::string tune = "off";
  std::function<void(const TuningProgress&)> on_tuning;  // called before the first layer and after each
  bool use_cache = true;
  std::string cache_folder;               // empty: $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth
  std::vector<std::string> cache_layers;  // read-only folders, looked up first, before those of $HEARTH_CACHE_LAYERS
  std::string cache_layer_keys;     // file of the public keys whose layers are used; empty: $HEARTH_CACHE_LAYER_KEYS
  bool trust_cache_layers = false;  // also use layers that no such key has signed
  uint64_t cache_max_bytes = 0;     // 0: $HEARTH_CACHE_MAX_SIZE ("512M"), else 1 GiB
  int cache_wait_ms = 250;          // a session's total waiting time for the cache's locks and servers
  bool cache_read_only = false;     // use existing entries, store nothing
  KeyValueStore* cache_store = nullptr;  // a caller's own store instead of a folder; must outlive the session
  CacheServer cache_server;      // empty: $HEARTH_CACHE_SERVER, $HEARTH_CACHE_SERVER_KEYS, $HEARTH_CACHE_SERVER_SIGN
  CacheObserver on_cache_event;  // called for hits, misses, rejects and stores
  std::string model_token;       // a text that is added to cache keys
  SharedContext shared;          // a context that the program opened and lends to the session
  int max_in_flight = 2;         // the most submitted runs that have not been waited for
  std::vector<std::string> cpu_ops;  // operations to keep on the CPU: "softmax", "op:7"
  // "ready": Open returns when the device is ready. "hot": Open returns when the CPU is ready. The CPU answers while
  // the device is prepared in the background at low priority. Between two runs the session moves to the device, with
  // its states, once that is ready and was measured faster; the report says why it moved or did not. Empty: "hot" under
  // "auto" where a hardware GPU finds nothing of the model in the cache, else "ready".
  std::string start;
  // Once a stop is requested, from any thread, opening the session ends with kUnavailable as soon as the driver has
  // finished the program that it compiles, and later resizes and clones do. Runs do not ask.
  std::stop_token stop = {};
  // A limit for weights, intermediate values, states, inputs and outputs on host and device together. If even the
  // smallest plan needs more, the session is refused with the bytes that it needs. 0: no limit.
  uint64_t memory_limit_bytes = 0;
  // The longest time that a run waits for its device, in milliseconds. A device that takes longer counts as lost, since
  // the fence of a hanging driver never signals. A loop on the CPU also ends then, with kResourceExhausted. 0: no
  // limit. -1: 60 s on hardware, where no driver lets a healthy run take that long, else no limit.
  int wait_limit_ms = -1;
  // If a named device is not usable, or fails at the start or in a run, the next one is taken as under "auto": hardware
  // GPUs first, the CPU last.
  bool next_device = false;
  std::string rules;    // driver rules forced on or off, "+wide_stores,-texel_reads"; DriverRules lists them
  int threads = 0;      // 0: as many as affinity, cgroup quota and machine allow
  ModelOptions model;   // for Open; Create takes a model that has been read already
  int kept_shapes = 4;  // how many earlier shapes Resize keeps ready; the least recently used go first
};

// A dispatch or host step of a profiled run.
struct ProfileEntry {
  std::string node, kernel;
  double milliseconds = 0;
};

// A run that was submitted.
struct Ticket {
  uint64_t number = 0;
  // With SubmitOptions::make_fence: a GLsync or cl_event after the run's last command; the program destroys it.
  uint64_t fence = 0;
};

// Sync points in `wait_for` must be signaled eventually: until then Wait and the session's destructor wait too.
struct SubmitOptions {
  std::vector<SyncPoint> wait_for;  // GLsync, VkSemaphore or cl_event: before the run reads or writes lent memory
  std::vector<SyncPoint> signal;    // VkSemaphores: signaled when the run is done with all lent memory
  bool make_fence = false;          // OpenGL ES and OpenCL
};

struct SessionData;  // internal

// Only one thread at a time may use a session; it may be any thread. A session that was moved from answers
// kInvalidArgument, or with nothing. The calling thread's rounding mode, subnormal handling and floating-point traps
// change no result: calls run with the default floating-point environment.
class HEARTH_EXPORT Session {
 public:
  // Reads the model while the device opens. Errors: as Model::FromFile; kUnavailable when the named device
  // is not usable; kUnsupported when an operator can run nowhere. Cache trouble is a warning in the report.
  static Result<Session> Open(const std::string& model_path, const SessionOptions& options);
  // `model` must outlive the session.
  static Result<Session> Create(const Model& model, const SessionOptions& options);
  static Result<Session> Create(const Model&& model, const SessionOptions& options) = delete;

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // A second session of the same model on the same device, with this one's current shapes, options and cache. Both
  // share one copy of the weights in the device's memory (on the CPU too, except for the few that XNNPACK packs
  // itself). Each has its own inputs, outputs, states and shapes. They may be used from different threads at once, and
  // either may be destroyed first; a model that was given to Create must outlive both. In a hot start the clone is on
  // the device that answers now. Errors: as Create.
  Result<Session> Clone();

  const Model& model() const;  // the model that Open read or Create was given, with the current shapes
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  // Changes shapes of inputs, by name or alias; inputs that are not named keep theirs. A plan for the new shapes is
  // made for the open device, with the weights that are already there if they are packed the same way. The earlier
  // shapes stay ready (SessionOptions::kept_shapes), so that going back costs next to nothing. Inputs must be set
  // again; inputs(), outputs() and output() have the new shapes. The model's states are kept if all keep their shapes,
  // else they become zero. Plans and programs go into the cache like those of a session that is opened with these
  // shapes. During a hot start the background device is prepared for the new shapes.
  // On an error the session keeps its shapes. kInvalidArgument for a wrong name, a shape that the model cannot take
  // (the message names input and operator), runs in flight, bound inputs or outputs, and an exceeded memory limit;
  // otherwise as Create.
  Status Resize(const std::map<std::string, std::vector<int32_t>>& shapes);
  // Changes the first dimension of every input.
  Status ResizeBatch(int32_t batch);

  // Copies a dense tensor in the input's own type. kInvalidArgument for a wrong index, name or size.
  Status SetInput(size_t index, std::span<const std::byte> bytes);
  Status SetInput(std::string_view name, std::span<const std::byte> bytes);
  // The same from elements: SetInput<float>(0, values). kInvalidArgument also if the input has another type.
  template <typename T>
  Status SetInput(size_t index, std::type_identity_t<std::span<const T>> elements) {
    const Status status = CheckElements(inputs(), index, "input", ElementTypeName<T>());
    return status.ok() ? SetInput(index, std::as_bytes(elements)) : status;
  }

  // Runs once and waits. kInvalidArgument when an input was never set.
  Status Run();
  Result<std::vector<ProfileEntry>> RunProfiled();

  // The same on the caller's memory: dense tensors in the order of inputs() and outputs() are used instead of those of
  // SetInput and output(index), which stay unchanged. An input and an output may share memory. kInvalidArgument for a
  // wrong number or size.
  Status Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs);
  Result<std::vector<ProfileEntry>> RunProfiled(std::span<const std::span<const std::byte>> inputs,
                                                std::span<const std::span<std::byte>> outputs);

  // Submit starts a run on the device with the current inputs and returns without waiting for it; inputs may be set
  // again at once. Runs take effect in the order of Submit. Nodes on the CPU are computed inside Submit, after waiting
  // for their inputs. Errors: as Run; kResourceExhausted when max_in_flight runs have not been waited for; kUnsupported
  // for synchronization that the device does not support.
  Result<Ticket> Submit(const SubmitOptions& options = {});
  // Waits for a run and makes its outputs those of output(). Each ticket may be waited for once, in any order.
  Status Wait(const Ticket& ticket);

  // From now on each run reads the input from, or writes the output to, memory that the program lends (see Binding).
  // SetInput and output() no longer apply to it, and nothing is copied between host and device. With MemoryKind::kHost
  // the session reads the memory in Submit and writes it in Wait. The memory must stay alive until the session is
  // destroyed, or has another binding and earlier runs have been waited for. kInvalidArgument for a wrong name, size,
  // format or object; kUnsupported if the CPU reads the input or makes the output, for memory of another driver, and
  // for integer tensors.
  Status BindInput(std::string_view name, const Binding& binding);
  Status BindOutput(std::string_view name, const Binding& binding);
  // From now on each run makes the input from a picture (see Frame): on a device with a kernel before the model's
  // first, on the CPU by the host. A frame in host memory is read in Run or Submit. Call BindFrame again for the next
  // frame; that costs next to nothing if the format stays the same. Bytes of the frame that no result depends on do not
  // cross to the device. Errors as BindInput; kInvalidArgument also for an invalid frame. Run on the caller's memory
  // takes no frames.
  Status BindFrame(std::string_view name, const Frame& frame);
  // Returns to SetInput and output().
  Status UnbindInput(std::string_view name);
  Status UnbindOutput(std::string_view name);

  // Resets the model's states (variable tensors: the state of an LSTM, an accumulator) to those before the first run.
  // Does nothing for a model without state.
  Status ResetState();

  // After a hot start: waits until the background device is ready or has answered a run, or was given up, which is an
  // error that says why. Returns at once after another start. The next run may be on the device.
  Status WaitForDevice();

  // The result of the last Run, or of the last run that was waited for. Valid until the next Run, or until
  // max_in_flight more runs were submitted. Zeros before the first run, empty for a wrong
  // index.
  std::span<const std::byte> output(size_t index) const;
  // The same as elements: output<float>(0). kInvalidArgument for a wrong index, if the output has another type, and
  // before a run.
  template <typename T>
  Result<std::span<const T>> output(size_t index) const {
    const Status status = CheckOutput(index, ElementTypeName<T>());
    if (!status.ok()) return status;
    const std::span<const std::byte> bytes = output(index);
    return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }

  // Stores in the cache what was made since the last call, and waits for it. Without a call, what the start made is
  // stored by a thread of low priority that begins 0.2 s after the first result, so that a program that is killed starts
  // warm next time; the destructor, like a later call, stores what bindings and runs in flight had to compile. After a
  // hot start it stores the background device's programs once that is ready (WaitForDevice).
  void SaveToCache();

  const Report& report() const;

 private:
  friend struct SessionData;
  static Status CheckElements(const std::vector<TensorInfo>& tensors, size_t index, std::string_view kind,
                              std::string_view type);
  Status CheckOutput(size_t index, std::string_view type) const;
  explicit Session(std::unique_ptr<SessionData> data);
  std::unique_ptr<SessionData> data_;
};

}  // namespace hearth

#endif  // HEARTH_SESSION_H_
