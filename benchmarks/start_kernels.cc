// The compiler's share of a cold start, kernel by kernel: processor time of each kernel of a model on one device.
//
//   start_kernels DEVICE MODEL...
//
// "any program" is what the driver's first program costs beside its kernel. "front end" is a program of the one kernel,
// less what every program costs. "machine code" is the first run less the second. "link" is the time of the driver's
// processes. Drivers' caches must be empty or off (POCL_KERNEL_CACHE=0, MESA_SHADER_CACHE_DISABLE=1).
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/emit/kernel_library.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "hal/device/command_list.h"
#include "hearth/model.h"
#include "runtime/devices/device_choice.h"
#include "runtime/model/model_data.h"

namespace hearth {
namespace {

double ProcessorMs(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto milliseconds = [](const timeval& time) {
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

// What `work` takes in this process, and in processes that it starts.
struct Cost {
  double own_ms = 0, link_ms = 0;
};

template <typename Work>
Result<Cost> CostOf(Work work) {
  const Cost before = {ProcessorMs(RUSAGE_SELF), ProcessorMs(RUSAGE_CHILDREN)};
  HEARTH_TRY(work());
  return Cost{ProcessorMs(RUSAGE_SELF) - before.own_ms, ProcessorMs(RUSAGE_CHILDREN) - before.link_ms};
}

Result<Cost> CostOfProgram(Device& device, const KernelSource& kernel, std::unique_ptr<ProgramGroup>& group) {
  return CostOf([&] {
    HEARTH_ASSIGN(group, device.Compile({&kernel, 1}));
    return Status::Ok();
  });
}

using Buffers = std::vector<std::unique_ptr<Buffer>>;

// Zeros: kernels take the time of their grids, and index nothing outside.
Result<Buffers> BuffersOf(const Plan& plan, Device& device) {
  Buffers buffers;
  for (const BufferSpec& spec : plan.buffers) {
    HEARTH_ASSIGN(std::unique_ptr<Buffer> buffer, device.CreateBuffer(spec.size_bytes));
    HEARTH_TRY(device.Write(*buffer, 0, spec.size_bytes, [](std::span<std::byte> bytes) {
      std::memset(bytes.data(), 0, bytes.size());
      return Status::Ok();
    }));
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

// Of the first run of all the kernel's dispatches less the second, which finds the code of each of their grids.
Result<Cost> CostOfMachineCode(Device& device, const Plan& plan, size_t kernel, Program* program,
                               const Buffers& buffers) {
  CommandList commands;
  for (const Dispatch& dispatch : plan.dispatches) {
    if (dispatch.kernel != kernel) continue;
    DispatchCommand command;
    command.program = program;
    command.scalars = dispatch.scalars;
    command.group_count = dispatch.group_count;
    for (const BufferRange& range : dispatch.tensors)
      command.tensors.push_back({buffers[range.buffer].get(), range.offset_bytes, range.size_bytes});
    commands.commands.emplace_back(std::move(command));
    commands.commands.emplace_back(BarrierCommand());
  }
  HEARTH_ASSIGN(const std::unique_ptr<Executable> executable, device.Prepare(commands));
  const auto run = [&] { return executable->Run(); };
  HEARTH_ASSIGN(const Cost first, CostOf(run));
  HEARTH_ASSIGN(const Cost second, CostOf(run));
  return Cost{first.own_ms - second.own_ms, first.link_ms - second.link_ms};
}

Status Print(const std::string& path, const OpenedDevice& opened, const Cost& any, double each_ms) {
  HEARTH_ASSIGN(const Model model, Model::FromFile(path));
  Graph graph = model.data().graph.Clone();
  HEARTH_TRY(InferShapes(graph));
  HEARTH_TRY(RunPasses(graph, opened.info, {}));
  HEARTH_ASSIGN(const Plan plan, Lower(graph, opened.info, {}));
  HEARTH_ASSIGN(const Buffers buffers, BuffersOf(plan, *opened.device));
  std::printf("\n%s, processor time in ms\n| kernel | front end | machine code | link |\n|---|---|---|---|\n",
              path.substr(path.find_last_of('/') + 1).c_str());
  std::printf("| any program | %.0f | | |\n", any.own_ms);
  double sum = any.own_ms;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const KernelSource& kernel = plan.kernels[k];
    std::unique_ptr<ProgramGroup> group;
    HEARTH_ASSIGN(const Cost front, CostOfProgram(*opened.device, kernel, group));
    Program* program = group->programs()[0].get();
    HEARTH_ASSIGN(const Cost code, CostOfMachineCode(*opened.device, plan, k, program, buffers));
    const double front_ms = front.own_ms - each_ms;
    sum += front_ms + code.own_ms + front.link_ms + code.link_ms;
    std::printf("| %s | %.0f | %.0f | %.0f |\n", kernel.name.c_str(), front_ms, code.own_ms, code.link_ms);
  }
  std::printf("| all | %.0f | | |\n", sum);
  return Status::Ok();
}

Status PrintAll(const std::string& device_name, const std::vector<std::string>& paths) {
  HEARTH_ASSIGN(const OpenedDevice opened, OpenChosenDevice(device_name));
  HEARTH_ASSIGN(const KernelSource smallest, LoadKernel("probe_read"));
  std::unique_ptr<ProgramGroup> group;
  HEARTH_ASSIGN(const Cost any, CostOfProgram(*opened.device, smallest, group));
  double each_ms = any.own_ms;
  for (int turn = 0; turn < 3; ++turn) {
    HEARTH_ASSIGN(const Cost again, CostOfProgram(*opened.device, smallest, group));
    each_ms = std::min(each_ms, again.own_ms);
  }
  for (const std::string& path : paths) HEARTH_TRY(Print(path, opened, any, each_ms));
  return Status::Ok();
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: start_kernels DEVICE MODEL...\n");
    return 2;
  }
  const hearth::Status status = hearth::PrintAll(argv[1], {argv + 2, argv + argc});
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
