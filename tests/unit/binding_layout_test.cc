// The kernels that move inputs and outputs: their grids fit wherever the kernels behind them do, and a grid in rows
// gives what a grid of three dimensions gives.
#include "hal/io/binding_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "backends/null/device.h"
#include "core/emit/kernel_limits.h"
#include "hal/io/slices.h"
#include "runtime/session/memory_need.h"
#include "tests/testing/on_device.h"

namespace hearth {
namespace {

// More columns, rows or slices than a grid has groups in a dimension.
std::vector<Shape> LongShapes() {
  return {{1, 300000}, {1, 600000, 1, 1}, {600000, 1}, {1, 1, 600000, 1}, {1, 600000, 2}};
}

HostTransfer TransferOf(DType dtype, const Shape& shape) {
  HostTransfer transfer = {.desc = {dtype, shape, {}}, .storage = StorageType::kFloat32, .range = {}};
  if (dtype == DType::kInt8) transfer.desc.quantization = Quantization{{0.5f}, {3}, 0};
  const Bhwc dims = ToBhwc(shape);
  transfer.range.size_bytes = static_cast<uint64_t>(dims.pixels() * dims.slices()) * TexelBytes(StorageType::kFloat32);
  return transfer;
}

Binding BorrowedBuffer(const HostTransfer& transfer) {
  Binding binding;
  binding.memory = MemoryKind::kClBuffer;
  binding.size_bytes = transfer.desc.size_bytes();
  return binding;
}

// What every device of the APIs takes, in groups of `items`.
DeviceInfo LeastDevice(uint32_t items) {
  DeviceInfo info = NullDeviceInfo();
  info.unified_memory = false;
  info.max_group_count = {65535, 65535, 65535};
  info.max_local_size = {items, items, items};
  info.max_local_invocations = items;
  return info;
}

void ExpectFits(const Result<BindingKernel>& kernel, const DeviceInfo& info) {
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const auto& groups = kernel->group_count;
  const Status fits = CheckGroupLimits(kernel->source, {groups[0], groups[1], groups[2]}, info);
  EXPECT_TRUE(fits.ok()) << fits.message();
}

TEST(BindingKernels, HaveNoMoreGroupsThanEveryDeviceTakes) {
  for (const uint32_t items : {1u, 64u}) {
    const DeviceInfo info = LeastDevice(items);
    for (const Shape& shape : LongShapes()) {
      SCOPED_TRACE(shape.ToString());
      const HostTransfer bytes = TransferOf(DType::kInt8, shape), numbers = TransferOf(DType::kFloat32, shape);
      EXPECT_TRUE(CrossesDense(bytes, info));
      for (const Side side : {Side::kInput, Side::kOutput}) ExpectFits(DenseKernel(side, bytes, info), info);
      ExpectFits(CopyKernel(bytes, info), info);
      const Result<BindingLayout> layout = LayoutOf(BorrowedBuffer(numbers), numbers.desc);
      ASSERT_TRUE(layout.ok()) << layout.status().message();
      for (const Side side : {Side::kInput, Side::kOutput})
        ExpectFits(BorrowedKernel(side, *layout, false, numbers, info), info);
    }
  }
}

TEST(BindingKernels, MoveLargeFloatTensorsWhereDeviceMemoryIsNotTheHosts) {
  DeviceInfo info = LeastDevice(64);
  EXPECT_TRUE(CrossesDense(TransferOf(DType::kFloat32, {1, 224, 224, 3}), info));
  EXPECT_FALSE(CrossesDense(TransferOf(DType::kFloat32, {1, 1001}), info));
  info.unified_memory = true;
  EXPECT_FALSE(CrossesDense(TransferOf(DType::kFloat32, {1, 224, 224, 3}), info));
}

TEST(BindingKernels, OfDenseTensorsNeedMemoryOnBothSidesOfTheBus) {
  DeviceInfo info = LeastDevice(64);
  Plan plan;
  plan.outputs.push_back({});
  plan.outputs[0].on_device = true;
  plan.outputs[0].transfer = TransferOf(DType::kFloat32, {1, 224, 224, 3});
  EXPECT_EQ(NeedOf(plan, info, {}).staging_bytes, 2u * 224 * 224 * 3 * sizeof(float));
}

TEST(BindingKernels, CopyMoreTexelsThanARowOfSmallGroupsHas) {
  const DeviceInfo info = LeastDevice(1);
  ExpectFits(CopyKernel(TransferOf(DType::kFloat32, {1, 300, 300, 4}), info), info);
}

TEST(BindingKernels, ThatNoGridHoldsLeaveBytesToTheHostAndLentMemoryWithAReason) {
  DeviceInfo info = LeastDevice(64);
  info.max_group_count = {1, 1, 1};
  EXPECT_FALSE(CrossesDense(TransferOf(DType::kInt8, {1, 20, 20, 8}), info));
  const HostTransfer numbers = TransferOf(DType::kFloat32, {1, 20, 20, 8});
  const Result<BindingLayout> layout = LayoutOf(BorrowedBuffer(numbers), numbers.desc);
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  for (const Side side : {Side::kInput, Side::kOutput}) {
    const Status refused = BorrowedKernel(side, *layout, false, numbers, info).status();
    EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
    EXPECT_THAT(refused.message(), ::testing::HasSubstr("work groups in dimension"));
  }
}

class BindingKernelsOnDevice : public testing::OnDevice {
 protected:
  // Takes no tensor of these tests but in rows.
  DeviceInfo Narrow() const {
    DeviceInfo info = opened_.device->info();
    info.max_group_count = {512, 3, 1};
    return info;
  }

  std::vector<std::byte> Ran(const Result<BindingKernel>& kernel, std::span<const std::byte> x, uint64_t y_bytes) {
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    if (!kernel.ok()) return {};
    Device& device = *opened_.device;
    const auto group = device.Compile({&kernel->source, 1});
    EXPECT_TRUE(group.ok()) << group.status().message();
    const auto from = device.CreateBuffer(x.size()), to = device.CreateBuffer(y_bytes);
    if (!group.ok() || !from.ok() || !to.ok()) return {};
    EXPECT_TRUE(device
                    .Write(**from, 0, x.size(),
                           [&](std::span<std::byte> memory) {
                             std::ranges::copy(x, memory.begin());
                             return Status::Ok();
                           })
                    .ok());
    const auto executable = device.Prepare({{DispatchCommand{(*group)->programs()[0].get(),
                                                             {{from->get(), 0, x.size()}, {to->get(), 0, y_bytes}},
                                                             kernel->scalars,
                                                             kernel->group_count,
                                                             "moves"}}});
    EXPECT_TRUE(executable.ok()) << executable.status().message();
    if (!executable.ok()) return {};
    const Status ran = (*executable)->Run();
    EXPECT_TRUE(ran.ok()) << ran.message();
    std::vector<std::byte> y(y_bytes);
    EXPECT_TRUE(device
                    .Read(**to, 0, y_bytes,
                          [&](std::span<const std::byte> memory) {
                            std::ranges::copy(memory, y.begin());
                            return Status::Ok();
                          })
                    .ok());
    return y;
  }
};

// Finite numbers of every size; as bytes, all 256 of them.
std::vector<std::byte> Patterned(uint64_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  for (uint64_t at = 0; at + sizeof(float) <= size_bytes; at += sizeof(float)) {
    const float number = static_cast<float>(at * 37 % 1013) / 8 - 50;
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }
  return bytes;
}

TEST_P(BindingKernelsOnDevice, MoveTheSameNumbersInRows) {
  const DeviceInfo& info = opened_.device->info();
  for (const int32_t channels : {3, 6}) {
    const HostTransfer transfer = TransferOf(DType::kFloat32, {2, 65, 260, channels});
    Binding binding = BorrowedBuffer(transfer);
    binding.flip_vertically = true;
    const Result<BindingLayout> layout = LayoutOf(binding, transfer.desc);
    ASSERT_TRUE(layout.ok()) << layout.status().message();
    const uint64_t dense_bytes = binding.size_bytes, slices_bytes = transfer.range.size_bytes;
    const std::vector<std::byte> dense = Patterned(dense_bytes), slices = Patterned(slices_bytes);
    const auto read = [&](const DeviceInfo& device) {
      return Ran(BorrowedKernel(Side::kInput, *layout, false, transfer, device), dense, slices_bytes);
    };
    const auto written = [&](const DeviceInfo& device) {
      return Ran(BorrowedKernel(Side::kOutput, *layout, false, transfer, device), slices, dense_bytes);
    };
    EXPECT_NE(BorrowedKernel(Side::kInput, *layout, false, transfer, Narrow())->source.defines,
              BorrowedKernel(Side::kInput, *layout, false, transfer, info)->source.defines);
    EXPECT_TRUE(read(info) == read(Narrow())) << channels << " channels";
    EXPECT_TRUE(written(info) == written(Narrow())) << channels << " channels";
  }
}

TEST_P(BindingKernelsOnDevice, ReadTheSameBytesInRows) {
  const HostTransfer transfer = TransferOf(DType::kInt8, {2, 65, 260, 6});
  const std::vector<std::byte> dense = Patterned(CrossingBytes(transfer));
  const auto read = [&](const DeviceInfo& device) {
    return Ran(DenseKernel(Side::kInput, transfer, device), dense, transfer.range.size_bytes);
  };
  EXPECT_TRUE(read(opened_.device->info()) == read(Narrow()));
}

TEST_P(BindingKernelsOnDevice, MoveDenseFloatsToTheBitsOfTheHost) {
  for (const int32_t channels : {1, 3, 6}) {
    for (const StorageType storage : {StorageType::kFloat32, StorageType::kFloat16}) {
      HostTransfer transfer = TransferOf(DType::kFloat32, {2, 65, 130, channels});
      transfer.storage = storage;
      transfer.range.size_bytes = transfer.range.size_bytes / TexelBytes(StorageType::kFloat32) * TexelBytes(storage);
      std::vector<std::byte> dense = Patterned(CrossingBytes(transfer));
      const float odd[] = {-0.0f, 1e6f, -1e-9f};  // of which 16 bits hold none as it is
      std::memcpy(dense.data(), odd, sizeof odd);
      std::vector<std::byte> slices(transfer.range.size_bytes), back(dense.size());
      DenseToSlices(transfer.desc, storage, dense, slices);
      SlicesToDense(transfer.desc, storage, slices, back);
      const DeviceInfo& info = opened_.device->info();
      EXPECT_TRUE(Ran(DenseKernel(Side::kInput, transfer, info), dense, slices.size()) == slices)
          << channels << " channels";
      EXPECT_TRUE(Ran(DenseKernel(Side::kOutput, transfer, info), slices, dense.size()) == back)
          << channels << " channels";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BindingKernelsOnDevice, ::testing::Values("vulkan", "opencl", "gles"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hearth
