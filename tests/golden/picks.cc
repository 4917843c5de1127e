#include "tests/golden/picks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "backends/null/device.h"
#include "core/base/error.h"
#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "core/emit/kernel_library.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "hearth/model.h"
#include "runtime/model/model_data.h"
#include "tests/testing/oracle_models.h"
#include "tests/testing/shared_data.h"

namespace hearth::testing {
namespace {

constexpr Dialect kDialects[] = {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan};

// What decides on PoCL, llvmpipe and lavapipe with AVX-512.
DeviceInfo SoftwareDevice(Dialect dialect) {
  DeviceInfo info = NullDeviceInfo();
  info.dialect = dialect;
  info.type = DeviceType::kCpu;
  if (dialect == Dialect::kOpenCl) info.native_vector_floats = 16;
  if (dialect == Dialect::kVulkan) {
    info.subgroup_size = 8;
    info.int64 = true;
  }
  return info;
}

DeviceInfo Gpu(Dialect dialect) {
  return Simulated(SoftwareDevice(dialect), *FindDeviceProfile("navi21").value());
}

struct Setting {
  DeviceInfo device;
  LowerOptions options;
  const char* words;
};

Setting With(DeviceInfo device, Precision precision, Preference preference, const char* words) {
  Setting setting{std::move(device), {}, words};
  setting.options.precision = precision;
  setting.options.preference = preference;
  return setting;
}

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (Dialect dialect : kDialects) {
    settings.push_back(With(SoftwareDevice(dialect), Precision::kFp32, Preference::kBalanced, "a software driver"));
    settings.push_back(With(Gpu(dialect), Precision::kFp32, Preference::kBalanced, "a GPU"));
  }
  for (Dialect dialect : {Dialect::kOpenCl, Dialect::kVulkan}) {
    settings.push_back(With(Gpu(dialect), Precision::kFp16, Preference::kBalanced, "a GPU in fp16"));
    settings.push_back(
        With(SoftwareDevice(dialect), Precision::kFp32, Preference::kSustainedSpeed, "a software driver for speed"));
  }
  const auto forced = ForcedRulesFromText("+unbounded_halves").value();
  for (Dialect dialect : kDialects) {
    for (Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
      settings.push_back(With(Gpu(dialect), precision, Preference::kBalanced, "a GPU that calculates in 16 bits"));
      settings.back().device.forced_rules = forced;
    }
  }
  settings.push_back(
      With(Gpu(Dialect::kVulkan), Precision::kFp16, Preference::kBalanced, "a GPU that multiplies matrices"));
  settings.back().device.matrix_shape = {16, 16, 16};
  settings.back().device.forced_rules = ForcedRulesFromText("+cooperative_matrices").value();
  return settings;
}

class Collector {
 public:
  void AddModel(const Model& model, const std::string& name) {
    for (const Setting& setting : settings_) {
      Graph graph = model.data().graph.Clone();
      if (!InferShapes(graph).ok() || !RunPasses(graph, setting.device, {}).ok()) continue;
      const Result<Plan> plan = Lower(graph, setting.device, setting.options);
      if (!plan.ok()) continue;  // what nothing can run
      for (const KernelSource& kernel : plan->kernels) {
        Add(kernel, setting.device.dialect, fmt::format("{} on {}", name, setting.words));
      }
    }
  }

  void Add(const KernelSource& source, Dialect dialect, const std::string& where) {
    kernels_.insert(source.name);
    std::string text = Emit(source, dialect);
    if (dialect == Dialect::kOpenCl) {
      const std::string name = EntryPoint(source);
      text.replace(text.find(name), name.size(), "hearth_" + source.name);
    }
    if (!known_texts_.insert({dialect, text}).second) return;
    std::string lines = NewLines(source.name, dialect, text);
    if (!lines.empty()) picks_.push_back({source, dialect, where, std::move(text), std::move(lines)});
  }

  void AddOracleModels() {
    const OracleArchive archive;
    for (const OracleModel& listed : ListOracleModels()) {
      const Result<std::span<const std::byte>> content = archive.Find(listed.file);
      HEARTH_CHECK(content.ok());
      const Result<Model> model = Model::FromMemory(*content, listed.file);
      if (model.ok()) AddModel(*model, std::filesystem::path(listed.file).stem());
    }
  }

  void AddSharedModels() {
    std::set<std::filesystem::path> paths;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(SharedFolder() / "models", none)) {
      if (entry.path().extension() == ".tflite") paths.insert(entry.path());
    }
    for (const std::filesystem::path& path : paths) {
      const Result<Model> model = Model::FromFile(path);
      if (model.ok()) AddModel(*model, path.stem());
    }
  }

  bool HasKernel(const std::string& name) const { return kernels_.contains(name); }
  // Those that were added since the last call.
  std::vector<Pick> Take() { return std::exchange(picks_, {}); }

 private:
  // All lines of a kernel's first text.
  std::string NewLines(const std::string& kernel, Dialect dialect, const std::string& text) {
    std::set<std::string>& known = known_lines_[{kernel, dialect == Dialect::kOpenCl}];
    const bool is_first = known.empty();
    std::istringstream lines(text);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
      if (known.insert(line).second || is_first) found += line + "\n";
    }
    return found;
  }

  std::vector<Setting> settings_ = Settings();
  std::set<std::string> kernels_;
  std::set<std::pair<Dialect, std::string>> known_texts_;
  std::map<std::pair<std::string, bool>, std::set<std::string>> known_lines_;
  std::vector<Pick> picks_;
};

KernelSource Loaded(const std::string& name) {
  Result<KernelSource> source = LoadKernel(name);
  HEARTH_CHECK(source.ok());
  return std::move(source).value();
}

// Memory that a caller lends, at argument `lent`: as numbers, as pixels or as a texture; and bytes that cross a bus.
void AddBorrowed(const std::string& name, size_t lent, Collector& picks) {
  const auto add = [&](const char* pixels, StorageType storage, AccessPath path, Dialect dialect, const char* words) {
    KernelSource source = Loaded(name);
    source.tensors[lent].storage = storage;
    source.tensors[lent].path = path;
    HEARTH_CHECK(SetDefine(source, "PIXELS", pixels).ok());
    picks.Add(source, dialect, words);
  };
  for (Dialect dialect : kDialects) {
    add("0", StorageType::kScalar, AccessPath::kBuffer, dialect, "lent numbers");
    add("1", StorageType::kUnorm8, AccessPath::kBuffer, dialect, "lent pixels");
    add("2", StorageType::kUnorm8, AccessPath::kBuffer, dialect, "bytes");
    KernelSource in_rows = Loaded(name);
    in_rows.tensors[lent].storage = StorageType::kScalar;
    HEARTH_CHECK(SetDefine(in_rows, "PIXELS", "0").ok() && SetDefine(in_rows, "FLAT", "1").ok());
    picks.Add(in_rows, dialect, "lent numbers in rows");
  }
  add("1", StorageType::kUnorm8, AccessPath::kTexture, Dialect::kGles, "a lent texture");
}

// Pictures of four and three bytes a pixel and of planes, from a texture too, for tensors of every kind of number.
void AddFrames(Collector& picks) {
  const auto add = [&](const char* pixels, const char* grid, bool is_texture, Dialect dialect, const char* words,
                       const char* columns = "1") {
    KernelSource source = Loaded("read_frame");
    source.tensors[0].storage = StorageType::kUnorm8;
    if (is_texture) source.tensors[0].path = AccessPath::kTexture;
    if (std::string_view(grid) == "3") source.tensors[2].storage = StorageType::kInt32;
    HEARTH_CHECK(SetDefine(source, "PIXELS", pixels).ok() && SetDefine(source, "GRID", grid).ok() &&
                 SetDefine(source, "COLUMNS", columns).ok());
    picks.Add(source, dialect, words);
  };
  for (Dialect dialect : kDialects) {
    add("4", "0", false, dialect, "pixels of four bytes");
    add("3", "1", false, dialect, "pixels of three bytes, on a grid");
    add("0", "2", false, dialect, "planes, as stored numbers");
    add("0", "3", false, dialect, "planes, as integers");
    add("4", "3", false, dialect, "pixels of four bytes, as integers of channels of their own", "4");
  }
  add("4", "0", true, Dialect::kGles, "a texture");
}

void AddOracle(Collector& picks) {
  picks.AddOracleModels();
  AddBorrowed("read_binding", 0, picks);
  AddBorrowed("write_binding", 1, picks);
  AddFrames(picks);
  for (const std::string& name : KernelNames()) {
    if (picks.HasKernel(name)) continue;
    for (Dialect dialect : kDialects) picks.Add(Loaded(name), dialect, "no model of tests/oracle");
  }
}

}  // namespace

const Picks& KernelPicks() {
  static const Picks picks = [] {
    Collector collector;
    Picks made;
    AddOracle(collector);
    made.oracle = collector.Take();
    collector.AddSharedModels();
    made.shared = collector.Take();
    return made;
  }();
  return picks;
}

}  // namespace hearth::testing
