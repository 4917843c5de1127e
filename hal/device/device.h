// An opened driver: buffers, programs and executables. One concrete class per backend
// implements the private Do* virtuals; the public methods check arguments once.
//
// Threads: CreateBuffer, Compile and Load may be called from several threads at once; buffers and executables are used
// by one thread at a time, any thread. Order: a device runs submissions in the order of Submit; each sees what earlier
// ones wrote. Lifetime: a device must outlive everything that it made.
#ifndef HEARTH_HAL_DEVICE_DEVICE_H_
#define HEARTH_HAL_DEVICE_DEVICE_H_

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/device_profiles.h"
#include "core/emit/kernel_source.h"
#include "hal/device/command_list.h"
#include "hal/device/native.h"
#include "hearth/status.h"

namespace hearth {

// Device memory, zero-filled or not, depending on the driver. An imported texture is also a Buffer: its size is that of
// its texels, and only an argument with AccessPath::kTexture takes it.
class Buffer {
 public:
  explicit Buffer(uint64_t size_bytes, bool is_texture = false) : size_bytes_(size_bytes), is_texture_(is_texture) {}
  virtual ~Buffer() = default;
  uint64_t size_bytes() const { return size_bytes_; }
  bool is_texture() const { return is_texture_; }
  // The driver's object, as a Binding has it; 0: it is not given away.
  virtual uint64_t native_handle() const { return 0; }

 private:
  uint64_t size_bytes_;
  bool is_texture_;
};

// The result of Compile and Load: programs for a list of sources, in one or several driver programs.
class ProgramGroup {
 public:
  virtual ~ProgramGroup() = default;
  virtual std::span<const std::unique_ptr<Program>> programs() const = 0;  // in the order of the sources

  // The driver's binary of the whole group, in a form that Load takes. Call it once, and only after the group's
  // programs ran (PoCL compiles at the first enqueue; reading costs 130-250 ms per kernel). kUnsupported where the
  // driver has no binaries.
  virtual Result<std::vector<std::byte>> Binary() = 0;

  // The part of Binary() that fits every driver (SPIR-V), in a form that Load takes; empty if there is none.
  virtual std::vector<std::byte> Portable() const { return {}; }

  // The other part of Binary(), in a form that LoadParts takes; call it as Binary(). kUnsupported where there is no
  // portable part.
  virtual Result<std::vector<std::byte>> DriverPart() {
    return Status(StatusCode::kUnsupported, "this device's binaries have no portable part");
  }

  // The time that making Portable() took in Compile; 0 after Load.
  virtual double portable_ms() const { return 0; }

  // GLSL texts that were turned into SPIR-V for this group (0 on other backends and after Load).
  virtual int spirv_compiled() const { return 0; }
};

// A prepared command list. It owns what the driver needs to run it; its buffers and programs must outlive it. Its
// destructor waits for its submissions.
class Executable {
 public:
  virtual ~Executable() = default;

  // Submit and Wait: returns when the results are visible to Device::Read.
  Status Run();

  // Submits all commands to the device and returns without waiting; may be called again before they are finished.
  // Returns the submission's number, counted per device. kDeviceLost or kUnavailable when the driver fails,
  // kUnsupported for a kind of synchronization that the backend lacks.
  virtual Result<uint64_t> Submit(const SubmitSync& sync = {}) = 0;

  // Waits until this and all earlier submissions of the device are finished and visible to Device::Read. The first call
  // for a submission reports its error (kDeviceLost, or kUnavailable for one that the driver does not explain). After
  // the device's wait limit it returns kDeviceLost, and from then on at once.
  virtual Status Wait(uint64_t submission) = 0;

  // Runs once and times each dispatch, on the device's own clock if it has one, else with a wait around each. Returns
  // milliseconds in the order of the dispatch commands.
  virtual Result<std::vector<double>> RunProfiled() = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  const DeviceInfo& info() const { return info_; }

  // The compiler in this process that makes the portable part of programs, with its version; empty if there is none.
  virtual std::string portable_compiler() const { return {}; }

  // Whether Binary() gives anything that Load takes, in this process: a driver may leave them out for a variable that
  // changes no code. Without them nothing is looked up, stored or rejected, so that what is stored serves others.
  virtual bool takes_binaries() const { return true; }

  // Whether several threads may use a program at a time. Then clones of a session share programs.
  virtual bool programs_serve_all_threads() const { return false; }

  // Whether reading binaries now would keep no run waiting. False only where a driver can't do both at once (PoCL),
  // while kernels run and shortly after.
  virtual bool is_quiet() const { return true; }

  // The bytes of kernels' buffers that lie in the host's memory because the device's own has no room: kernels reach
  // them over the bus, many times slower. 0 where the device shares the host's memory and where the driver does not
  // tell.
  virtual uint64_t spilled_bytes() const { return 0; }

  // The fewest work items that a kernel which Compile or Load refused may have in a group: some drivers compile a
  // kernel for fewer than info() tells, and say so only then. UINT32_MAX: none was refused. 0: the driver tells no such
  // limit.
  virtual uint32_t items_as_compiled() const { return 0; }

  // The limit for waiting for submissions; zero, the default, is no limit. A device that takes longer counts as hung:
  // all waits return kDeviceLost, and objects that the driver may still be using are never released. Call it before the
  // first submission.
  void set_wait_limit(std::chrono::nanoseconds limit) { DoSetWaitLimit(limit); }

  // Memory for storage and texel reads. kInvalidArgument for size 0; kResourceExhausted over max_buffer_bytes, and when
  // the driver has no memory left.
  Result<std::unique_ptr<Buffer>> CreateBuffer(uint64_t size_bytes);

  // Memory that the host sees and only CopyCommand uses: Write and Read of it copy nothing and wait for nothing.
  // kUnsupported where the device shares the host's memory or the driver stages copies itself; other errors as
  // CreateBuffer.
  Result<std::unique_ptr<Buffer>> CreateStaging(uint64_t size_bytes);

  // Imports the caller's memory or texture, which the caller owns and keeps alive. kUnsupported for a kind that this
  // backend does not support, kInvalidArgument for an object of another context, too small or of another format, as far
  // as the driver can tell.
  Result<std::unique_ptr<Buffer>> ImportBuffer(const NativeMemory& memory);

  // Lets `fill` write [offset, offset + size) of `buffer`, in mapped device memory or a staging copy. Bytes that `fill`
  // does not write are undefined. The data is visible to all later submissions; no running submission may use the
  // range. `fill` must not call the device.
  Status Write(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
               const std::function<Status(std::span<std::byte>)>& fill);
  // Lets `view` read the range as all submissions that were waited for left it. Later ones may still be running on
  // other ranges.
  Status Read(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
              const std::function<Status(std::span<const std::byte>)>& view);

  // Compiles `sources` as one group. kInvalidArgument for no sources or an empty work group; kResourceExhausted for a
  // kernel over a limit of info() or, as compiled, over items_as_compiled(), and when the driver has no memory left;
  // kDeviceLost; kUnavailable when the driver
  // refuses a program for any other reason, with its log. Names the kernel.
  Result<std::unique_ptr<ProgramGroup>> Compile(std::span<const KernelSource> sources);
  // The same from a binary that Binary() returned for the same sources on the same driver; with
  // CompileGrouping::kTogether it may contain more sources. The caller has verified its checksum. Errors: as Compile,
  // and kMalformedInput for anything that is not a binary of these sources. It does not crash, as far as the driver
  // allows.
  Result<std::unique_ptr<ProgramGroup>> Load(std::span<const KernelSource> sources, std::span<const std::byte> binary);
  // The same from Portable() and DriverPart(), which were kept apart. kUnsupported where binaries have no parts.
  Result<std::unique_ptr<ProgramGroup>> LoadParts(std::span<const KernelSource> sources,
                                                  std::span<const std::byte> portable,
                                                  std::span<const std::byte> driver_part);

  // Prepares the list for running. kInvalidArgument for a command without program or memory, with a wrong number of
  // arguments, or with a range that is outside its buffer, empty or misaligned; kResourceExhausted for more work
  // groups, or more bytes in one binding, than info() allows; kInternal for a race. May be called again for the same or
  // another list.
  Result<std::unique_ptr<Executable>> Prepare(const CommandList& commands);

 protected:
  explicit Device(DeviceInfo info) : info_(std::move(info)) {}

 private:
  virtual Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) = 0;
  virtual Result<std::unique_ptr<Buffer>> DoCreateStaging(uint64_t size_bytes);
  virtual void DoSetWaitLimit(std::chrono::nanoseconds limit) = 0;
  virtual Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) = 0;
  virtual Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                         const std::function<Status(std::span<std::byte>)>& fill) = 0;
  virtual Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                        const std::function<Status(std::span<const std::byte>)>& view) = 0;
  virtual Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) = 0;
  virtual Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                                       std::span<const std::byte> binary) = 0;
  virtual Result<std::unique_ptr<ProgramGroup>> DoLoadParts(std::span<const KernelSource> sources,
                                                            std::span<const std::byte> portable,
                                                            std::span<const std::byte> driver_part);
  virtual Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) = 0;

  DeviceInfo info_;
};

// A device that a backend found, whether it can be opened or not. If `usable` is false, the reason is one that a person
// can act on: a missing loader library, no driver, a missing extension, a version that is too old.
struct DeviceCandidate {
  std::string backend;  // the name of its row
  std::string name, driver;
  DeviceType type = DeviceType::kOther;
  bool usable = false;
  std::string unusable_reason;
  int driver_index = 0;                    // the backend's own index of it, for Open
  const DeviceProfile* profile = nullptr;  // the device that it simulates once it is open; see device_profiles.h
};

// Of a device whose driver tells these facts; `unusable_reason` is empty if it can be opened.
DeviceCandidate CandidateOf(const DeviceInfo& info, std::string unusable_reason, int driver_index);

// One row per backend in runtime/devices/backends.cc, the CPU included; functions, not statics, so that nothing runs
// before main.
struct BackendDef {
  std::string_view name;  // "vulkan": for users, and the backend of its devices
  // Never fails and never crashes: a backend without loader or driver returns one unusable candidate.
  std::vector<DeviceCandidate> (*enumerate)();
  Result<std::unique_ptr<Device>> (*open)(const DeviceCandidate& candidate);
  // Opens a device in the caller's context, which is the backend's alternative of SharedContext. kInvalidArgument for a
  // context that can't be shared. Null where nothing is shared.
  Result<std::unique_ptr<Device>> (*open_shared)(const SharedContext& context);
  bool (*shares)(const SharedContext& context);  // whether `context` is that alternative
  // Lets a driver that has no usable folder for what it makes use one below this. Call it before the first enumeration.
  // Null where drivers need none.
  void (*give_folder)(const std::filesystem::path& folder) = nullptr;

  bool is_host() const { return name == kHostBackend; }
};

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_DEVICE_H_
