// The data of a Session.
#ifndef HEARTH_RUNTIME_SESSION_SESSION_DATA_H_
#define HEARTH_RUNTIME_SESSION_SESSION_DATA_H_

#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "hal/device/stopwatch.h"
#include "hearth/session.h"
#include "runtime/devices/backends.h"
#include "runtime/session/background_device.h"
#include "runtime/session/run_context.h"

namespace hearth {

struct Attempt;

// What a session is opened with. All but the options is for tests and for warming the cache.
struct SessionRequest {
  SessionOptions options;
  std::shared_ptr<SessionCache> cache;    // instead of the one that the options name
  std::shared_ptr<SessionDevice> device;  // the same
  std::span<const BackendDef> backends = Backends();
  bool trusts_devices = false;  // as PrepareRequest::trusts_device
  bool for_warming = false;     // as PrepareRequest::for_warming
  MoveRule move_rule = MoveRule::kWhenFaster;
};

// A hot start: the device in the background, and whether to move to it (hot_start.h).
struct HotStart {
  std::shared_ptr<BackgroundDevice> device;  // until the session moves to it or gives it up; others may wait for it
  std::vector<double> cpu_ms;                // the CPU's last runs while it has nothing else to do
  bool is_slowed = false;                    // the run in progress began while the device was being prepared
  int restarts = 0;                          // preparations that changes of shapes ended
};

// A session: what it was opened with, and the prepared model and its runs, which change with one pointer (MoveTo) when
// it goes on with other shapes or on another device.
struct SessionData {
  SessionData(SessionRequest request, const Stopwatch& since_asked);
  ~SessionData();

  static Session Open(std::unique_ptr<SessionData> data) { return Session(std::move(data)); }
  // Null for a session that was moved from.
  static SessionData* Of(Session& session) { return session.data_.get(); }

  const pid_t process = ::getpid();       // the process that opened it
  std::atomic<std::thread::id> caller{};  // the thread that is inside a public function
  const Stopwatch since_asked;
  const std::shared_ptr<const SessionRequest> request;
  const std::shared_ptr<const SessionOptions> options;  // of the request
  std::shared_ptr<SessionCache> cache;                  // null: none
  std::unique_ptr<RunContext> context;                  // never null in an open session
  // For earlier shapes on the same device, most recently used first.
  std::vector<std::unique_ptr<RunContext>> earlier_shapes;
  HotStart hot;
  uint64_t run_count = 0;  // runs that have begun
  Report report;
  size_t logged_warnings = 0;

  void LogNewWarnings();
};

// Session::Open and Session::Create.
Result<Session> OpenSession(const std::string& model_path, SessionRequest request);
Result<Session> CreateSession(const Model& model, SessionRequest request);

// Session::Create on an open device, which the options' own names do not change. Sessions of several models on one
// device may use the same buffers (kOwnBuffer).
Result<Session> CreateSessionOn(const OpenedDevice& device, const Model& model, const SessionOptions& options);
// The device that the session is on now; null: the CPU.
std::shared_ptr<Device> DeviceOf(Session& session);

// Session::Submit and Session::Run with what may end the run early. `data`: null for a session that was moved from.
Result<Ticket> SubmitUnder(SessionData* data, const SubmitOptions& options, RunControl& control);
Status RunUnder(SessionData* data, RunControl& control);

// Whether runs are possible. kDeviceLost: moving to another device failed as well. kIoError: runs read weights in the
// model's file, which has changed.
Status CheckHasDevice(const SessionData& data);

// The index of the tensor with this name or alias; kInvalidArgument lists all names. `kind`: "input" or "output".
Result<size_t> IndexOf(const std::vector<TensorInfo>& tensors, std::string_view name, std::string_view kind);

// Session::SaveToCache for one context. Adds its time and warnings to the report.
void SaveContext(SessionData& data, RunContext& context);

// ---- session_report.cc ----

// After a start: its times, model and warnings, which it also logs.
void NoteStart(SessionData& data);
// Copies what the report tells of the prepared model on its device from the session's context; the start's times stay.
void ShowContext(SessionData& data);
// Tells of a move to another device.
void NoteMove(SessionData& data);
// Copies the cache's counters and warnings into the report.
void NoteCache(SessionData& data);

// ---- session_call.cc ----

// While the call fails by the device's fault and the session can move: moves to the next device, restores the states
// from before the oldest run in flight, repeats the runs in flight, and calls again.
Status RunOnAUsableDevice(SessionData& data, const Attempt& attempt);

// ---- session_memory.cc ----

// Report::memory.needed_bytes: of all shapes that are ready, and of their runs.
uint64_t NeededBytes(const SessionData& data);
// kResourceExhausted if the memory of another run in flight would exceed SessionOptions::memory_limit_bytes.
Status CheckRunInFlightFits(const SessionData& data);
// The same for the frames that the device has been given.
Status CheckFramesFit(const SessionData& data);

// ---- resize.cc ----

using InputShapes = std::map<std::string, std::vector<int32_t>>;
// Session::Resize. On an error the session is unchanged.
Status ResizeSession(SessionData& data, const InputShapes& shapes);
// Session::ResizeBatch.
Status ResizeBatchOf(SessionData& data, int32_t batch);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_SESSION_SESSION_DATA_H_
