// A device whose Nth driver call fails.
#ifndef HEARTH_TESTS_TESTING_FAILING_DEVICE_H_
#define HEARTH_TESTS_TESTING_FAILING_DEVICE_H_

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "hal/device/device.h"

namespace hearth::testing {

// Shared by a device and its objects. Thread-safe.
class CallFault {
 public:
  // Call number `call`, from 1, returns `status`.
  void Arm(int call, Status status) {
    const std::scoped_lock lock(mutex_);
    call_ = call;
    calls_ = 0;
    status_ = std::move(status);
  }
  // Whether the armed call happened.
  bool Disarm() {
    const std::scoped_lock lock(mutex_);
    return calls_ >= std::exchange(call_, INT_MAX);
  }
  Status Count() {
    const std::scoped_lock lock(mutex_);
    return ++calls_ == call_ ? status_ : Status::Ok();
  }

  // Changes bytes that the host reads from the device; may be empty.
  std::function<void(std::span<std::byte>)> spoil_read;
  // Whether dma-bufs are imported, as new memory without their content. Absent: as the inner device does it.
  std::optional<bool> imports_dma_bufs;
  bool takes_binaries = true;  // false: the device takes none, whatever the inner one does
  // The work items of a group that the kernel is compiled for; empty: as many as it asks for.
  std::function<uint32_t(const KernelSource& source)> items_as_compiled;

 private:
  std::mutex mutex_;
  int call_ = INT_MAX, calls_ = 0;
  Status status_;
};

// Forwards all calls to `inner`, which must outlive it.
class FailingDevice final : public Device {
 public:
  FailingDevice(Device& inner, CallFault& fault) : FailingDevice(inner, fault, inner.info(), "") {}
  // Reports `info`, and programs with a portable part (the inner device's binary) made by `compiler`. Their other part
  // names the driver.
  FailingDevice(Device& inner, CallFault& fault, DeviceInfo info, std::string compiler)
      : Device(std::move(info)), inner_(inner), fault_(fault), compiler_(std::move(compiler)) {}

  static constexpr double kPortableMs = 1e-6;  // what making a portable part is said to take
  std::string portable_compiler() const override { return compiler_; }
  bool takes_binaries() const override { return fault_.takes_binaries && inner_.takes_binaries(); }
  uint32_t items_as_compiled() const override { return items_as_compiled_; }

 private:
  class Group final : public ProgramGroup {
   public:
    Group(std::unique_ptr<ProgramGroup> inner, CallFault& fault, std::vector<std::byte> driver_part)
        : inner_(std::move(inner)), fault_(fault), driver_part_(std::move(driver_part)) {}
    std::span<const std::unique_ptr<Program>> programs() const override { return inner_->programs(); }
    std::vector<std::byte> Portable() const override { return inner_->Binary().value(); }
    double portable_ms() const override { return driver_part_.empty() ? 0 : kPortableMs; }
    Result<std::vector<std::byte>> Binary() override {
      if (Status status = fault_.Count(); !status.ok()) return status;
      return inner_->Binary();
    }
    Result<std::vector<std::byte>> DriverPart() override {
      if (Status status = fault_.Count(); !status.ok()) return status;
      return driver_part_;
    }

   private:
    std::unique_ptr<ProgramGroup> inner_;
    CallFault& fault_;
    std::vector<std::byte> driver_part_;
  };

  class Runnable final : public Executable {
   public:
    Runnable(std::unique_ptr<Executable> inner, CallFault& fault) : inner_(std::move(inner)), fault_(fault) {}
    Result<uint64_t> Submit(const SubmitSync& sync) override {
      if (Status status = fault_.Count(); !status.ok()) return status;
      return inner_->Submit(sync);
    }
    Status Wait(uint64_t submission) override {
      if (Status status = fault_.Count(); !status.ok()) return status;
      return inner_->Wait(submission);
    }
    Result<std::vector<double>> RunProfiled() override { return inner_->RunProfiled(); }

   private:
    std::unique_ptr<Executable> inner_;
    CallFault& fault_;
  };

  Result<std::unique_ptr<ProgramGroup>> Wrapped(Result<std::unique_ptr<ProgramGroup>> group) {
    if (!group.ok()) return group.status();
    return std::unique_ptr<ProgramGroup>(std::make_unique<Group>(std::move(group).value(), fault_, DriverPart()));
  }
  std::vector<std::byte> DriverPart() const {
    const std::span<const std::byte> bytes = BytesOf(info().driver_version);
    return {bytes.begin(), bytes.end()};
  }

  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { inner_.set_wait_limit(limit); }
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    return inner_.CreateBuffer(size_bytes);
  }
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    if (memory.kind != MemoryKind::kDmaBuf || !fault_.imports_dma_bufs) return inner_.ImportBuffer(memory);
    if (*fault_.imports_dma_bufs) return inner_.CreateBuffer(memory.size_bytes);
    return Status(StatusCode::kUnsupported, "this device imports no dma-bufs");
  }
  Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const std::function<Status(std::span<std::byte>)>& fill) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    return inner_.Write(buffer, offset_bytes, size_bytes, fill);
  }
  Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                const std::function<Status(std::span<const std::byte>)>& view) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    return inner_.Read(buffer, offset_bytes, size_bytes, [&](std::span<const std::byte> bytes) {
      if (!fault_.spoil_read) return view(bytes);
      std::vector<std::byte> spoilt(bytes.begin(), bytes.end());
      fault_.spoil_read(spoilt);
      return view(spoilt);
    });
  }
  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    for (const KernelSource& source : sources) {
      const uint32_t items = source.local_size[0] * source.local_size[1] * source.local_size[2];
      const uint32_t limit = fault_.items_as_compiled ? fault_.items_as_compiled(source) : items;
      if (items <= limit) continue;
      const std::scoped_lock lock(mutex_);
      items_as_compiled_ = std::min<uint32_t>(items_as_compiled_, limit);
      return Status(StatusCode::kResourceExhausted, source.name + " is too large as compiled");
    }
    return Wrapped(inner_.Compile(sources));
  }
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                               std::span<const std::byte> binary) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    return Wrapped(inner_.Load(sources, binary));
  }
  Result<std::unique_ptr<ProgramGroup>> DoLoadParts(std::span<const KernelSource> sources,
                                                    std::span<const std::byte> portable,
                                                    std::span<const std::byte> driver_part) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    if (TextFrom(driver_part) != info().driver_version)
      return Status(StatusCode::kMalformedInput, "the part of another driver");
    return Wrapped(inner_.Load(sources, portable));
  }
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override {
    if (Status status = fault_.Count(); !status.ok()) return status;
    Result<std::unique_ptr<Executable>> executable = inner_.Prepare(commands);
    if (!executable.ok()) return executable.status();
    return std::unique_ptr<Executable>(std::make_unique<Runnable>(std::move(executable).value(), fault_));
  }

  Device& inner_;
  CallFault& fault_;
  std::string compiler_;
  std::mutex mutex_;
  std::atomic<uint32_t> items_as_compiled_ = UINT32_MAX;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_FAILING_DEVICE_H_
