#include "conformance/failed_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"

namespace hearth::conformance {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Status WriteTo(const fs::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? Status::Ok() : Error(StatusCode::kIoError, "{} can't be written", file.string());
}

Status WriteNumbers(const fs::path& file, std::span<const double> numbers) {
  return WriteTo(file, TextFrom(std::as_bytes(numbers)));
}

Result<Json> WriteKernels(const fs::path& folder, const FailedCase& failed) {
  Json kernels = Json::array();
  for (const KernelSource& kernel : failed.plan.kernels) {
    const std::string file =
        fmt::format("kernel_{}.{}", kernels.size(), failed.info.dialect == Dialect::kOpenCl ? "cl" : "comp");
    HEARTH_TRY(WriteTo(folder / file, Emit(kernel, failed.info.dialect)));
    Json defines = Json::object();
    for (const Define& define : kernel.defines) defines[define.name] = define.value;
    kernels.push_back(
        {{"file", file}, {"name", kernel.name}, {"defines", std::move(defines)}, {"local_size", kernel.local_size}});
  }
  return kernels;
}

Json LaunchesOf(const Plan& plan) {
  Json launches = Json::array();
  for (const Dispatch& dispatch : plan.dispatches) {
    Json tensors = Json::array();
    for (const BufferRange& range : dispatch.tensors) {
      tensors.push_back(
          {{"buffer", range.buffer}, {"offset_bytes", range.offset_bytes}, {"size_bytes", range.size_bytes}});
    }
    launches.push_back({{"kernel", dispatch.kernel},
                        {"label", dispatch.label},
                        {"groups", dispatch.group_count},
                        {"tensors", std::move(tensors)},
                        {"scalars", dispatch.scalars}});
  }
  return launches;
}

// The buffers of constants, packed as the kernels read them. A case has no file.
Status WriteConstants(const fs::path& folder, const Plan& plan) {
  std::map<uint32_t, std::vector<std::byte>> contents;
  for (const PlanConstant& constant : plan.constants) {
    const BufferRange& range = constant.range;
    std::vector<std::byte>& bytes = contents[range.buffer];
    bytes.resize(plan.buffers[range.buffer].size_bytes);
    HEARTH_TRY(PackConstant(constant.recipe, constant.inline_bytes,
                            std::span(bytes).subspan(range.offset_bytes, constant.recipe.packed_size_bytes())));
  }
  for (const auto& [buffer, bytes] : contents)
    HEARTH_TRY(WriteTo(folder / fmt::format("buffer_{}.bin", buffer), TextFrom(bytes)));
  return Status::Ok();
}

Status WriteAll(const fs::path& folder, const FailedCase& failed) {
  const Graph& graph = failed.batch.graph;
  for (size_t k = 0; k < failed.batch.inputs.size(); ++k) {
    const TensorDesc& desc = graph.value(graph.inputs[k]).desc;
    std::vector<std::byte> bytes(desc.size_bytes());
    HEARTH_TRY(ReferenceToBytes(failed.batch.inputs[k], desc, bytes));
    HEARTH_TRY(WriteTo(folder / fmt::format("input_{}.bin", k), TextFrom(bytes)));
  }
  Json buffers = Json::array();
  HEARTH_TRY(WriteConstants(folder, failed.plan));
  for (const BufferSpec& buffer : failed.plan.buffers) buffers.push_back(buffer.size_bytes);
  HEARTH_ASSIGN(Json kernels, WriteKernels(folder, failed));
  const Json json = {{"case", failed.id},
                     {"path", failed.path},
                     {"reason", failed.reason},
                     {"device",
                      {{"id", failed.device},
                       {"backend", failed.info.backend},
                       {"name", failed.info.name},
                       {"driver", failed.info.driver_version}}},
                     {"kernels", std::move(kernels)},
                     {"buffers", std::move(buffers)},
                     {"launches", LaunchesOf(failed.plan)}};
  HEARTH_TRY(WriteTo(folder / "case.json", json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  HEARTH_TRY(WriteTo(folder / "graph.txt", ToText(graph)));
  if (!failed.found.empty()) {
    HEARTH_TRY(WriteNumbers(folder / "expected.bin", failed.expected));
    HEARTH_TRY(WriteNumbers(folder / "found.bin", failed.found));
  }
  return WriteTo(folder / "replay.sh", fmt::format("#!/bin/sh\n# Exit code 1: it still fails.\n"
                                                   "exec hearth conformance --device {} --filter '{}' \"$@\"\n",
                                                   failed.device, failed.id));
}

}  // namespace

Result<std::string> WriteFailedCase(const std::string& folder, const FailedCase& failed) {
  std::string name = fmt::format("{} {} {}", failed.device, failed.id, failed.path);
  std::ranges::replace_if(
      name, [](char c) { return std::string_view("/\\:* ").find(c) != std::string_view::npos; }, '_');
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error(StatusCode::kIoError, "{}: {}", path.string(), error.message());
  HEARTH_TRY(WriteAll(path, failed));
  return path.string();
}

}  // namespace hearth::conformance
