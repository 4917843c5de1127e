#include "frontends/delegate/device_memory.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "frontends/delegate/interpreter_model.h"

namespace hearth {

std::byte* DeviceMemory::Host() {
  if (host_ == nullptr) {
    host_.reset(new (std::align_val_t(kAlignment)) std::byte[std::max<size_t>(1, bytes_)]);
    std::memset(host_.get(), 0, bytes_);
  }
  return host_.get();
}

Status DeviceMemory::BringToHost(TransferCounts& counts) {
  if (has_host_) return Status::Ok();
  HEARTH_TRY(device_->Read(*buffer_, 0, buffer_->size_bytes(), [&](std::span<const std::byte> content) {
    std::memcpy(Host(), content.data(), bytes_);
    return Status::Ok();
  }));
  counts.to_host_bytes += bytes_;
  has_host_ = true;
  return Status::Ok();
}

Result<std::byte*> DeviceMemory::OnHost(Access access) {
  const std::lock_guard lock(mutex_);
  TransferCounts counts;
  if (access != Access::kWrite) HEARTH_TRY(BringToHost(counts));
  has_host_ = !is_lent_;
  if (access != Access::kRead) {
    has_device_ = false;
    is_lent_changed_ = is_lent_;
  }
  return Host();
}

Status DeviceMemory::EndHost() {
  const std::lock_guard lock(mutex_);
  return std::exchange(is_lent_changed_, false) ? BringToDevice() : Status::Ok();
}

Status DeviceMemory::BringToDevice() {
  return device_->Write(*buffer_, 0, buffer_->size_bytes(), [&](std::span<std::byte> content) {
    std::memcpy(content.data(), Host(), bytes_);
    return Status::Ok();
  });
}

Result<std::shared_ptr<Buffer>> DeviceMemory::OnDevice(const std::shared_ptr<Device>& device, Access access,
                                                       TransferCounts& counts) {
  const std::lock_guard lock(mutex_);
  if (is_lent_ && device != device_)
    return Error(StatusCode::kUnsupported, "the memory belongs to another device's context");
  if (is_lent_) return buffer_;
  const bool is_read = access != Access::kWrite;
  if (buffer_ == nullptr || device_ != device) {
    if (is_read) HEARTH_TRY(BringToHost(counts));
    HEARTH_ASSIGN(std::shared_ptr<Buffer> buffer, device->CreateBuffer(RoundUp(std::max<size_t>(1, bytes_), 4)));
    buffer_ = std::move(buffer);
    device_ = device;
    has_device_ = false;
  }
  if (is_read && !has_device_) {
    HEARTH_TRY(BringToDevice());
    counts.to_device_bytes += bytes_;
  }
  has_device_ = true;
  if (access != Access::kRead) has_host_ = false;
  return buffer_;
}

Result<std::span<std::byte>> BytesOfTensor(const tflite_c::TfLiteContext& context, int index) {
  const tflite_c::TfLiteTensor* tensor = TensorAt(context, index);
  if (tensor == nullptr || (tensor->data == nullptr && tensor->bytes > 0)) {
    return Error(StatusCode::kInvalidArgument, "the interpreter gave no memory to {}", TensorLabel(context, index));
  }
  return std::span<std::byte>(static_cast<std::byte*>(tensor->data), tensor->bytes);
}

// Finds the interpreter's tensors each time: it may move them between invocations.
Result<std::unique_ptr<BoundMemory>> MemoryOfTensors::Hold(tflite_c::TfLiteContext& context,
                                                           std::span<const int> inputs, std::span<const int> outputs) {
  auto held = std::make_unique<BoundMemory>();
  for (const int index : inputs) {
    HEARTH_ASSIGN(const std::span<std::byte> bytes, BytesOfTensor(context, index));
    held->inputs.emplace_back(bytes);
  }
  for (const int index : outputs) {
    HEARTH_ASSIGN(const std::span<std::byte> bytes, BytesOfTensor(context, index));
    held->outputs.push_back(bytes);
  }
  return held;
}

}  // namespace hearth
