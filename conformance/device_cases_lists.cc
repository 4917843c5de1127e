// Lists of dispatches, their order and their times, binaries, threads, and bytes moved.
#include <bit>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/device_case_support.h"
#include "conformance/device_cases.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth::conformance {
namespace {

// A chain a -> b -> a -> ... Each dispatch reads the previous one's result in reversed order, so that a group depends
// on another group's writes.
template <AccessPath kPath>
Status DependentChain(Device& device) {
  HEARTH_TRY(CheckReadPath(device, kPath));
  constexpr size_t kTexels = 4096;
  constexpr int kSteps = 21;
  KernelSource source = CopyKernel(device, kPath);
  source.name = "reverse_and_add";
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, x_load(count - 1 - at) + splat4(1.0f));\n}\n";
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto a, BufferOf(device, kTexels * 4));
  HEARTH_ASSIGN(const auto b, BufferOf(device, kTexels * 4));
  Floats input(kTexels * 4);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i);
  HEARTH_TRY(WriteFloats(device, *a, input));
  CommandRecorder recorder;
  for (int step = 0; step < kSteps; ++step) {
    Buffer& from = step % 2 == 0 ? *a : *b;
    Buffer& to = step % 2 == 0 ? *b : *a;
    recorder.Record(DispatchOf(*group->programs()[0], {Whole(from), Whole(to)}, {kTexels}, kTexels), {false, true});
  }
  HEARTH_TRY(RunList(device, recorder.Finish()));
  Floats expected(input.size());
  for (size_t i = 0; i < input.size(); ++i) {
    expected[i] = input[(kTexels - 1 - i / 4) * 4 + i % 4] + static_cast<float>(kSteps);
  }
  return SameFloats(expected, ReadFloats(device, *b, expected.size()));
}

Status APreparedListRunsAgainOnNewInput(Device& device) {
  const KernelSource source = CopyKernel(device);
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto x, BufferOf(device, 4 * 96));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 4 * 96));
  HEARTH_ASSIGN(const auto executable,
                device.Prepare({{DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {96}, 96)}}));
  for (int run = 0; run < 5; ++run) {
    const Floats input = Ramp(4 * 96, static_cast<float>(run));
    HEARTH_TRY(WriteFloats(device, *x, input));
    HEARTH_TRY(executable->Run());
    HEARTH_TRY(SameFloats(input, ReadFloats(device, *y, input.size())));
  }
  return Status::Ok();
}

Status AListIsPreparedTwice(Device& device) {
  const KernelSource source = AffineKernel(device);
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto x, BufferOf(device, 4 * 32));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 4 * 32));
  const auto list_with_bias = [&](uint32_t bias) {
    const std::vector<uint32_t> scalars = {32, std::bit_cast<uint32_t>(1.0f), bias};
    return CommandList{{DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, scalars, 32)}};
  };
  HEARTH_TRY(WriteFloats(device, *x, Floats(4 * 32, 1.0f)));
  HEARTH_ASSIGN(const auto first, device.Prepare(list_with_bias(1)));
  HEARTH_ASSIGN(const auto second, device.Prepare(list_with_bias(2)));
  HEARTH_TRY(second->Run());
  HEARTH_TRY(SameFloats(Floats(4 * 32, 3.0f), ReadFloats(device, *y, 4 * 32)));
  HEARTH_TRY(first->Run());
  return SameFloats(Floats(4 * 32, 2.0f), ReadFloats(device, *y, 4 * 32));
}

Status AnEmptyListRuns(Device& device) {
  return RunList(device, CommandList{});
}

Status ProfileGivesOneTimePerDispatch(Device& device) {
  const KernelSource source = CopyKernel(device);
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto x, BufferOf(device, 4 * 4096));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 4 * 4096));
  HEARTH_ASSIGN(const auto z, BufferOf(device, 4 * 4096));
  HEARTH_TRY(WriteFloats(device, *x, Ramp(4 * 4096)));
  CommandRecorder recorder;
  Program& copy = *group->programs()[0];
  recorder.Record(DispatchOf(copy, {Whole(*x), Whole(*y)}, {4096}, 4096), {false, true});
  recorder.Record(DispatchOf(copy, {Whole(*y), Whole(*z)}, {4096}, 4096), {false, true});
  HEARTH_ASSIGN(const auto executable, device.Prepare(recorder.Finish()));
  for (int run = 0; run < 2; ++run) {
    const auto times = executable->RunProfiled();
    HEARTH_TRY(Check(times.ok(), "times.ok()"));
    HEARTH_TRY(Check(times->size() == 2u, "times->size() == 2u"));
    for (double milliseconds : *times) {
      HEARTH_TRY(Check(milliseconds >= 0.0, "milliseconds >= 0.0"));
      HEARTH_TRY(Check(milliseconds < 60000.0, "milliseconds < 60000.0"));
    }
  }
  HEARTH_TRY(SameFloats(Ramp(4 * 4096), ReadFloats(device, *z, 4 * 4096)));
  return executable->Run();
}

Status ABinaryLoadsToEqualResults(Device& device) {
  const std::vector<KernelSource> sources = {CopyKernel(device), AffineKernel(device)};
  HEARTH_ASSIGN(const auto compiled, device.Compile(sources));
  const Floats input = Ramp(4 * 100);
  const std::vector<uint32_t> scalars = {100, std::bit_cast<uint32_t>(3.0f), 5};
  HEARTH_ASSIGN(const Floats copied, RunUnary(device, *compiled->programs()[0], input, {100}));
  HEARTH_ASSIGN(const Floats scaled, RunUnary(device, *compiled->programs()[1], input, scalars));
  const auto binary = compiled->Binary();
  if (!binary.ok() && binary.status().code() == StatusCode::kUnsupported) return binary.status();
  HEARTH_TRY(Check(binary.ok(), "binary.ok()"));
  HEARTH_ASSIGN(const auto loaded, device.Load(sources, *binary));
  HEARTH_TRY(Check(loaded->programs().size() == 2u, "loaded->programs().size() == 2u"));
  HEARTH_TRY(Check(loaded->spirv_compiled() == 0, "loaded->spirv_compiled() == 0"));
  HEARTH_TRY(SameFloats(copied, RunUnary(device, *loaded->programs()[0], input, {100})));
  HEARTH_TRY(SameFloats(scaled, RunUnary(device, *loaded->programs()[1], input, scalars)));
  const std::vector<std::byte> portable = compiled->Portable();
  if (portable.empty()) return Status::Ok();
  HEARTH_ASSIGN(const std::vector<std::byte> driver_part, compiled->DriverPart());
  HEARTH_ASSIGN(const auto joined, device.LoadParts(sources, portable, driver_part));
  HEARTH_TRY(SameFloats(copied, RunUnary(device, *joined->programs()[0], input, {100})));
  return SameFloats(scaled, RunUnary(device, *joined->programs()[1], input, scalars));
}

Status KernelsCompileFromSeveralThreads(Device& device) {
  constexpr int kThreads = 4;
  std::vector<std::unique_ptr<ProgramGroup>> groups(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&device, &groups, t] {
      KernelSource source = AffineKernel(device);
      source.defines = {{"OFFSET", std::to_string(t) + ".0f"}};
      source.body =
          "int at = GID(0);\nif (at < count) {\n"
          "  y_store(at, x_load(at) * scale + splat4(to_float(bias) + OFFSET));\n}\n";
      auto group = device.Compile({&source, 1});
      if (group.ok()) groups[t] = std::move(group).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    HEARTH_TRY(Check(groups[t] != nullptr, "thread "));
    HEARTH_TRY(SameFloats(
        Floats(64, 12.0f + static_cast<float>(t)),
        RunUnary(device, *groups[t]->programs()[0], Floats(64, 2.0f), {16, std::bit_cast<uint32_t>(1.0f), 10})));
  }
  return Status::Ok();
}

Status AFailedFillIsPassedOn(Device& device) {
  HEARTH_ASSIGN(const auto buffer, BufferOf(device, 16));
  const Status refuse(StatusCode::kMalformedInput, "refused on purpose");
  HEARTH_TRY(Check(
      device.Write(*buffer, 0, 64, [&](std::span<std::byte>) { return refuse; }).message() == refuse.message(),
      "device.Write(*buffer, 0, 64, [&](std::span<std::byte>) { return refuse; }).message() == refuse.message()"));
  HEARTH_TRY(Check(
      device.Read(*buffer, 0, 64, [&](std::span<const std::byte>) { return refuse; }).message() == refuse.message(),
      "device.Read(*buffer, 0, 64, [&](std::span<const std::byte>) { return refuse; }).message() == refuse.message()"));
  return Status::Ok();
}

Status BytesAtOddOffsetsAreWrittenAndRead(Device& device) {
  HEARTH_ASSIGN(const auto buffer, device.CreateBuffer(1003));
  std::string first(1003, 'a');
  HEARTH_TRY(WriteBytes(device, *buffer, first.data(), first.size()));
  HEARTH_TRY(WriteBytes(device, *buffer, "hello", 5, 997));
  HEARTH_TRY(WriteBytes(device, *buffer, "x", 1, 3));
  first.replace(997, 5, "hello");
  first[3] = 'x';
  return device.Read(*buffer, 1, 1002, [&](std::span<const std::byte> bytes) {
    return Check(TextFrom(bytes) == first.substr(1), "seen == first.substr(1)");
  });
}

constexpr DeviceCase kListCases[] = {{"DependentDispatchesRunInOrder", DependentChain<AccessPath::kBuffer>},
                                     {"TexelReadsSeeEarlierWrites", DependentChain<AccessPath::kTexelBuffer>},
                                     HEARTH_DEVICE_CASE(APreparedListRunsAgainOnNewInput),
                                     HEARTH_DEVICE_CASE(AListIsPreparedTwice),
                                     HEARTH_DEVICE_CASE(AnEmptyListRuns),
                                     HEARTH_DEVICE_CASE(ProfileGivesOneTimePerDispatch),
                                     HEARTH_DEVICE_CASE(ABinaryLoadsToEqualResults),
                                     HEARTH_DEVICE_CASE(KernelsCompileFromSeveralThreads),
                                     HEARTH_DEVICE_CASE(AFailedFillIsPassedOn),
                                     HEARTH_DEVICE_CASE(BytesAtOddOffsetsAreWrittenAndRead)};

}  // namespace

std::span<const DeviceCase> ListCases() {
  return kListCases;
}

}  // namespace hearth::conformance
