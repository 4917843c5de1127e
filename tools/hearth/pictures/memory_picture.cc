#include "tools/hearth/pictures/memory_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/plan/offset_search.h"
#include "tools/hearth/printing.h"

namespace hearth {
namespace {

constexpr double kWidth = 1000, kHeight = 480, kLeft = 70, kTop = 40, kRight = 20, kAxisLineHeight = 16;
constexpr uint64_t kAlignmentBytes = 64;

// Follows a plan's steps and records when ranges of the arena are written and read.
class ArenaWatch {
 public:
  explicit ArenaWatch(const Plan& plan) {
    for (size_t k = 0; k < plan.buffers.size(); ++k) {
      if (plan.buffers[k].role != BufferRole::kArena) continue;
      arena_ = k;
      picture_.arena_bytes = plan.buffers[k].size_bytes;
    }
  }

  void Write(const BufferRange& range, int step, const std::string& name) {
    if (range.buffer != arena_) return;
    if (Watched* known = Find(range); known != nullptr && !known->was_read) {
      Touch(*known, step);
      return;
    }
    picture_.tensors.push_back({name, range.offset_bytes, {range.size_bytes, step, step}});
    watched_.push_back({picture_.tensors.size() - 1, false});
  }

  void Read(const BufferRange& range, int step) {
    if (range.buffer != arena_) return;
    if (Watched* known = Find(range); known != nullptr) {
      known->was_read = true;
      Touch(*known, step);
    }
  }

  ArenaPicture Finish(int steps) {
    picture_.steps = steps;
    return std::move(picture_);
  }

 private:
  struct Watched {
    size_t tensor;
    bool was_read;
  };

  // The latest tensor with exactly this range.
  Watched* Find(const BufferRange& range) {
    for (auto at = watched_.rbegin(); at != watched_.rend(); ++at) {
      const ArenaTensor& tensor = picture_.tensors[at->tensor];
      if (tensor.offset_bytes == range.offset_bytes && tensor.usage.size_bytes == range.size_bytes) return &*at;
    }
    return nullptr;
  }
  void Touch(const Watched& watched, int step) { picture_.tensors[watched.tensor].usage.last_step = step; }

  size_t arena_ = SIZE_MAX;
  ArenaPicture picture_;
  std::vector<Watched> watched_;
};

std::string TensorSvg(const ArenaTensor& tensor, size_t index, double x_per_step, double y_per_byte) {
  const double x = kLeft + tensor.usage.first_step * x_per_step;
  const double width = (tensor.usage.last_step - tensor.usage.first_step + 1) * x_per_step;
  const double height = static_cast<double>(tensor.usage.size_bytes) * y_per_byte;
  const double y = kTop + kHeight - static_cast<double>(tensor.offset_bytes) * y_per_byte - height;
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"hsl({},55%,65%)\" stroke=\"#333\" "
      "stroke-width=\"0.5\"><title>{}: {} at {}, steps {} to {}</title></rect>\n",
      x, y, width, height, index * 137 % 360, XmlEscaped(tensor.name), BytesText(tensor.usage.size_bytes),
      tensor.offset_bytes, tensor.usage.first_step, tensor.usage.last_step);
}

std::string TextSvg(double x, double y, const std::string& text, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, XmlEscaped(text));
}

std::string AxesSvg(const ArenaPicture& picture, double x_per_step, double y_per_byte) {
  std::string svg = fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" fill=\"none\" stroke=\"#333\"/>\n", kLeft,
                                kTop, kTop + kHeight, kWidth - kRight);
  for (int part = 0; part <= 4; ++part) {
    const uint64_t bytes = picture.arena_bytes * static_cast<uint64_t>(part) / 4;
    svg += TextSvg(kLeft - 6, kTop + kHeight - static_cast<double>(bytes) * y_per_byte + 4, BytesText(bytes),
                   " text-anchor=\"end\"");
  }
  for (int step = 0; step < picture.steps; step += std::max(1, picture.steps / 10)) {
    svg += TextSvg(kLeft + (step + 0.5) * x_per_step, kTop + kHeight + kAxisLineHeight, std::to_string(step),
                   " text-anchor=\"middle\"");
  }
  return svg;
}

std::string SummarySvg(const std::vector<TensorUsage>& usages, uint64_t arena_bytes) {
  return TextSvg(kLeft, kTop + kHeight + 3 * kAxisLineHeight,
                 fmt::format("one arena: {}; a buffer per tensor: {}; lower bound: {}", BytesText(arena_bytes),
                             BytesText(NaiveBytes(usages)), BytesText(LowerBoundBytes(usages))));
}

}  // namespace

ArenaPicture ArenaOf(const Plan& plan) {
  ArenaWatch watch(plan);
  for (const PlanTensor& input : plan.inputs) {
    if (input.on_device) watch.Write(input.transfer.range, 0, input.name);
  }
  int step = 0;
  for (const Segment& segment : plan.segments) {
    for (const Dispatch& dispatch : plan.DispatchesOf(segment)) {
      ++step;
      const std::vector<TensorArg>& args = plan.kernels[dispatch.kernel].tensors;
      for (size_t k = 0; k < args.size(); ++k) {
        if (args[k].direction == ArgDirection::kRead) watch.Read(dispatch.tensors[k], step);
      }
      for (size_t k = 0; k < args.size(); ++k) {
        if (args[k].direction == ArgDirection::kWrite) watch.Write(dispatch.tensors[k], step, dispatch.label);
      }
    }
    step += segment.executor == Executor::kCpu ? 1 : 0;
    for (const SegmentOperand& read : segment.reads)
      if (read.crosses) watch.Read(read.transfer.range, step);
    for (const SegmentOperand& write : segment.writes)
      if (write.crosses) watch.Write(write.transfer.range, step, "from the CPU");
  }
  for (const PlanTensor& output : plan.outputs) {
    if (output.on_device) watch.Read(output.transfer.range, step + 1);
  }
  return watch.Finish(step + 2);
}

ArenaPicture HostArenaOf(const Graph& graph) {
  ArenaPicture picture;
  std::vector<int> tensor_of(graph.values().size(), -1);
  const auto touch = [&](ValueId value, int step) {
    if (value == kNoValue || graph.IsConstant(value)) return;
    int& tensor = tensor_of[static_cast<size_t>(value)];
    if (tensor < 0) {
      tensor = static_cast<int>(picture.tensors.size());
      picture.tensors.push_back({graph.value(value).name, 0, {graph.value(value).desc.size_bytes(), step, step}});
    }
    picture.tensors[static_cast<size_t>(tensor)].usage.last_step = step;
  };
  for (ValueId input : graph.inputs) touch(input, 0);
  int step = 0;
  for (const Node& node : graph.nodes()) {
    ++step;
    for (ValueId value : node.inputs) touch(value, step);
    for (ValueId value : node.outputs) touch(value, step);
  }
  for (ValueId output : graph.outputs) touch(output, step + 1);
  std::vector<TensorUsage> usages;
  for (const ArenaTensor& tensor : picture.tensors) usages.push_back(tensor.usage);
  const OffsetPlan plan = SearchOffsets(usages, kAlignmentBytes);
  for (size_t k = 0; k < usages.size(); ++k) picture.tensors[k].offset_bytes = plan.offsets[k];
  picture.arena_bytes = plan.total_bytes;
  picture.steps = step + 2;
  return picture;
}

std::string MemorySvg(const ArenaPicture& picture, const std::string& title) {
  const double x_per_step = (kWidth - kLeft - kRight) / std::max(1, picture.steps);
  const double y_per_byte = kHeight / static_cast<double>(std::max<uint64_t>(1, picture.arena_bytes));
  const double height = kTop + kHeight + 4 * kAxisLineHeight;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, height);
  svg += TextSvg(kLeft, kTop / 2,
                 fmt::format("{}: {} tensors in {}", title, picture.tensors.size(), BytesText(picture.arena_bytes)));
  std::vector<TensorUsage> usages;
  for (size_t k = 0; k < picture.tensors.size(); ++k) {
    svg += TensorSvg(picture.tensors[k], k, x_per_step, y_per_byte);
    usages.push_back(picture.tensors[k].usage);
  }
  return svg + AxesSvg(picture, x_per_step, y_per_byte) + SummarySvg(usages, picture.arena_bytes) + "</svg>\n";
}

}  // namespace hearth
