// Changing any single part of any key changes the key, and the comparison of keys names exactly that part.
#include <functional>
#include <random>
#include <set>

#include "cache/store/last_misses.h"
#include "core/emit/kernel_library.h"
#include "core/plan/key_fields.h"
#include "hal/programs/program_keys.h"
#include "hal/run/resident_constants.h"
#include "runtime/devices/read_path_probe.h"
#include "runtime/plans/plan_cache.h"
#include "runtime/plans/tuning_cache.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

DeviceInfo KeyedDevice() {
  DeviceInfo info;
  info.backend = "opencl";
  info.name = "GPU";
  info.vendor = "Vendor";
  info.driver_version = "1.0";
  info.uuid = "0011";
  return info;
}

CacheKey ProgramKey(std::span<const KernelSource> sources, const DeviceInfo& info) {
  return KeyOf(RequestOf<ProgramRequest>(info, KernelTextsOf(sources, info)));
}
CacheKey SourceKey(std::span<const KernelSource> sources, const DeviceInfo& info, const std::string& compiler) {
  return KeyOf(PortableRequest{compiler, KernelTextsOf(sources, info)});
}
CacheKey ReadPathProbeKey(const DeviceInfo& info) {
  return KeyOf(ReadPathRequest{&info});
}
CacheKey TuningKey(const DeviceInfo& info, const std::string& layer) {
  return KeyOf(TunedLayerRequest{.device = &info, .layer = layer});
}

std::vector<KernelSource> SomeKernels() {
  std::vector<KernelSource> kernels;
  for (const char* name : {"softmax", "probe_read"}) kernels.push_back(*LoadKernel(name));
  return kernels;
}

// The differing part, as `explain` would name it; "" when the keys are equal, all of them joined when there are
// several.
std::string PartThatDiffers(const CacheKey& wanted, const CacheKey& stored) {
  CacheEntry entry;
  entry.kind = BlobKindName(stored.kind());
  entry.fields = *DecodeKeyMaterial(stored.material());
  const auto nearest = FindNearestEntry({entry}, BlobKindName(wanted.kind()), *DecodeKeyMaterial(wanted.material()));
  if (!nearest) return "kind";
  std::set<std::string> parts;
  for (const CacheKeyDifference& difference : nearest->differences) parts.insert(difference.part);
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : "+") + part;
  EXPECT_EQ(joined.empty(), wanted.digest() == stored.digest());
  return joined;
}

template <typename T>
using Changes = std::vector<std::pair<std::string, std::function<void(T&)>>>;

TEST(CacheKeys, EveryPartOfAProgramsKeyCountsAndIsNamed) {
  const Changes<DeviceInfo> changes = {
      {"device", [](DeviceInfo& d) { d.name = "GPU 2"; }},
      {"device", [](DeviceInfo& d) { d.vendor = "Other"; }},
      {"driver version", [](DeviceInfo& d) { d.driver_version = "1.1"; }},
      {"device uuid", [](DeviceInfo& d) { d.uuid = "0012"; }},
      {"backend", [](DeviceInfo& d) { d.backend = "vulkan"; }},
      {"driver environment", [](DeviceInfo& d) { d.driver_environment = "GALLIVM_PERF=0123456789abcdef"; }},
  };
  const CacheKey base = ProgramKey(SomeKernels(), KeyedDevice());
  for (const auto& [part, change] : changes) {
    DeviceInfo device = KeyedDevice();
    change(device);
    EXPECT_EQ(PartThatDiffers(ProgramKey(SomeKernels(), device), base), part);
  }
  std::vector<KernelSource> kernels = SomeKernels();
  kernels[0].body += " ";
  EXPECT_EQ(PartThatDiffers(ProgramKey(kernels, KeyedDevice()), base), "kernel");
  kernels = SomeKernels();
  std::swap(kernels[0], kernels[1]);
  EXPECT_NE(ProgramKey(kernels, KeyedDevice()).digest(), base.digest()) << "programs come back in the order of sources";
}

TEST(CacheKeys, ABinaryIsForTheNumberOfCpusThatItContains) {
  DeviceInfo two = KeyedDevice();
  two.binary_cpus = 2;
  DeviceInfo one = two;
  one.binary_cpus = 1;
  EXPECT_EQ(PartThatDiffers(ProgramKey(SomeKernels(), one), ProgramKey(SomeKernels(), two)), "device capability");
  one.binary_cpus = two.binary_cpus = 0;
  one.compute_units = 1;
  two.compute_units = 2;
  EXPECT_EQ(PartThatDiffers(ProgramKey(SomeKernels(), one), ProgramKey(SomeKernels(), two)), "");
}

// Entries from before the field was there are still found.
TEST(CacheKeys, AnEmptyDriverEnvironmentIsInNoKey) {
  for (const CacheKey& key : {ProgramKey(SomeKernels(), KeyedDevice()), TuningKey(KeyedDevice(), "a layer")}) {
    const CacheKeyFields fields = *DecodeKeyMaterial(key.material());
    for (const auto& [name, value] : fields) EXPECT_NE(name, "driver environment");
  }
}

TEST(CacheKeys, EveryPartOfAPortableProgramsKeyCountsAndNoDriverDoes) {
  const CacheKey base = SourceKey(SomeKernels(), KeyedDevice(), "compiler 1");
  EXPECT_EQ(PartThatDiffers(SourceKey(SomeKernels(), KeyedDevice(), "compiler 2"), base), "Hearth version");
  DeviceInfo device = KeyedDevice();
  device.driver_version = device.name = device.uuid = device.vendor = "other";
  EXPECT_EQ(PartThatDiffers(SourceKey(SomeKernels(), device, "compiler 1"), base), "");
  device.dialect = Dialect::kVulkan;
  EXPECT_NE(SourceKey(SomeKernels(), device, "compiler 1").digest(), base.digest());
  std::vector<KernelSource> kernels = SomeKernels();
  kernels[1].body += " ";
  EXPECT_EQ(PartThatDiffers(SourceKey(kernels, KeyedDevice(), "compiler 1"), base), "kernel");
}

struct PlanCase {
  Graph graph = {};
  DeviceInfo device = KeyedDevice();
  LowerOptions options;
  std::string model;
  std::string signature;
  std::string custom_ops;

  CacheKey Key() const {
    PlanRequest request{&graph, model, &device, options, signature};
    request.custom_ops = custom_ops;
    return KeyOf(request);
  }
};

TEST(CacheKeys, EveryPartOfAPlansKeyCountsAndIsNamed) {
  const Changes<PlanCase> changes = {
      {"model content", [](PlanCase& c) { c.model = "other"; }},
      {"signature", [](PlanCase& c) { c.signature = "encode"; }},
      {"custom operator", [](PlanCase& c) { c.custom_ops = "\"MISH\" \"2\""; }},
      {"input shape",
       [](PlanCase& c) {
         c.graph.inputs = {c.graph.AddValue({"x", {DType::kFloat32, Shape{1, 8}, {}}, {}})};
       }},
      {"option", [](PlanCase& c) { c.options.precision = Precision::kFp16; }},
      {"option", [](PlanCase& c) { c.options.read_path = AccessPath::kTexelBuffer; }},
      {"option", [](PlanCase& c) { c.options.cpu_ops = {"softmax"}; }},
      {"option", [](PlanCase& c) { c.options.preference = Preference::kFastSingleAnswer; }},
      {"option", [](PlanCase& c) { c.options.low_memory = true; }},
      {"tuning record",
       [](PlanCase& c) {
         c.options.tuned["a layer"].choice = {"tile", 2, 1, 8};
       }},
      {"type", [](PlanCase& c) { c.device.type = DeviceType::kDiscreteGpu; }},
      {"device capability", [](PlanCase& c) { c.device.max_local_size[1] += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_local_invocations += 1; }},
      {"device capability", [](PlanCase& c) { c.device.local_memory_bytes += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_group_count[2] += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_buffer_bytes += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_binding_bytes += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_texel_buffers += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_argument_bytes -= 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_texel_elements += 1; }},
      {"device capability", [](PlanCase& c) { c.device.buffer_offset_alignment += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_storage_buffers += 1; }},
      {"device capability", [](PlanCase& c) { c.device.max_scalar_bytes += 1; }},
      {"device capability", [](PlanCase& c) { c.device.compute_units += 1; }},
      {"device capability", [](PlanCase& c) { c.device.native_vector_floats = 16; }},
      {"device capability", [](PlanCase& c) { c.device.fp16_storage = !c.device.fp16_storage; }},
      {"device capability", [](PlanCase& c) { c.device.fp16_arithmetic = !c.device.fp16_arithmetic; }},
      {"device capability", [](PlanCase& c) { c.device.subgroup_size = 16; }},
      {"device capability", [](PlanCase& c) { c.device.matrix_shape[2] += 8; }},
      {"device capability", [](PlanCase& c) { c.device.int64 = !c.device.int64; }},
      {"device capability", [](PlanCase& c) { c.device.unified_memory = !c.device.unified_memory; }},
      {"", [](PlanCase& c) { c.device.id = "opencl:7"; }},
      {"", [](PlanCase& c) { c.device.driver_version = "2.0"; }},  // a driver update keeps the plan
      {"", [](PlanCase& c) { c.device.uuid = "other"; }},
      {"", [](PlanCase& c) { c.device.name = "other"; }},
      {"", [](PlanCase& c) { c.device.driver_environment = "other"; }},
      {"", [](PlanCase& c) { c.device.binary_cpus = 7; }},
      {"", [](PlanCase& c) { c.device.is_cached_by_host = true; }},
  };
  for (size_t k = 0; k < changes.size(); ++k) {
    PlanCase changed;
    changes[k].second(changed);
    EXPECT_EQ(PartThatDiffers(changed.Key(), PlanCase().Key()), changes[k].first) << "change " << k;
  }
}

struct WeightsCase {
  PlanConstant constant;
  std::string content = "0123/64";

  WeightsCase() {
    constant.recipe.source.shape = Shape({4, 4});
    constant.recipe.source.quantization = Quantization{{0.5f}, {3}, 0};
    constant.recipe.dims = {4, 4};
  }
  CacheKey Key() const {
    const auto name = [this](std::span<const std::byte>) { return content; };
    return KeyOf(WeightsRequest{{}, constant.recipe}, name);
  }
};

TEST(CacheKeys, EveryPartOfAWeightsKeyCountsAndIsNamed) {
  const Changes<WeightsCase> changes = {
      {"weights", [](WeightsCase& c) { c.content = "0124/64"; }},
      {"weights", [](WeightsCase& c) { c.constant.recipe.source.dtype = DType::kInt8; }},
      {"weights", [](WeightsCase& c) { c.constant.recipe.source.shape = Shape({16}); }},
      {"weights", [](WeightsCase& c) { c.constant.recipe.source.quantization->scales[0] = 0.25f; }},
      {"weights", [](WeightsCase& c) { c.constant.recipe.source.quantization->zero_points[0] = 4; }},
      {"weights", [](WeightsCase& c) { c.constant.recipe.source.quantization->dimension = 1; }},
      {"weights", [](WeightsCase& c) { c.constant.recipe.source.quantization.reset(); }},
      {"weights",
       [](WeightsCase& c) {
         c.constant.recipe.stored = StoredForm{{0, {{8, 1}, {2, 8}}}};
       }},
      {"layout", [](WeightsCase& c) { c.constant.recipe.width += 1; }},
      {"layout", [](WeightsCase& c) { c.constant.recipe.layout = PackLayout::kSlices; }},
      {"layout", [](WeightsCase& c) { c.constant.recipe.storage = StorageType::kFloat16; }},
      {"layout", [](WeightsCase& c) { c.constant.recipe.dims[0] = 16; }},
      {"", [](WeightsCase& c) { c.constant.range.offset_bytes = 4096; }},  // where it lies does not matter
      {"", [](WeightsCase& c) { c.constant.source.offset_bytes = 4096; }},
      {"", [](WeightsCase& c) { c.constant.source.file = 1; }},
  };
  for (size_t k = 0; k < changes.size(); ++k) {
    WeightsCase changed;
    changes[k].second(changed);
    EXPECT_EQ(PartThatDiffers(changed.Key(), WeightsCase().Key()), changes[k].first) << "change " << k;
  }
}

TEST(CacheKeys, EveryPartOfAProbesKeyCountsAndIsNamed) {
  const Changes<DeviceInfo> changes = {
      {"device", [](DeviceInfo& d) { d.name = "GPU 2"; }},
      {"driver version", [](DeviceInfo& d) { d.driver_version = "1.1"; }},
      {"device uuid", [](DeviceInfo& d) { d.uuid = "0012"; }},
      {"backend", [](DeviceInfo& d) { d.backend = "vulkan"; }},
      {"driver environment", [](DeviceInfo& d) { d.driver_environment = "GALLIVM_PERF=0123456789abcdef"; }},
  };
  for (const auto& [part, change] : changes) {
    DeviceInfo device = KeyedDevice();
    change(device);
    EXPECT_EQ(PartThatDiffers(ReadPathProbeKey(device), ReadPathProbeKey(KeyedDevice())), part);
  }
}

TEST(CacheKeys, OtherSourcesAreNamedAsAnotherVersionOfHearth) {
  for (const char* field : {"plan sources", "weight sources", "tuning sources", "probe sources"}) {
    CacheKey stored(BlobKind::kPlan), wanted(BlobKind::kPlan);
    stored.Add(field, 1).Add("model", "same");
    wanted.Add(field, 2).Add("model", "same");
    EXPECT_EQ(PartThatDiffers(wanted, stored), "Hearth version") << field;
  }
}

TEST(CacheKeys, EveryFieldOfEveryKeyHasAWordForUsers) {
  const CacheKey keys[] = {ProgramKey(SomeKernels(), KeyedDevice()),
                           SourceKey(SomeKernels(), KeyedDevice(), "compiler"),
                           PlanCase().Key(),
                           WeightsCase().Key(),
                           ReadPathProbeKey(KeyedDevice()),
                           TuningKey(KeyedDevice(), "a layer")};
  const std::set<std::string> words = {"Hearth version", "backend",        "device",      "device capability",
                                       "device uuid",    "driver version", "input shape", "kernel",
                                       "layout",         "option",         "signature",   "model content",
                                       "weights",        "tuning record",  "type",        "layer",
                                       "device profile"};
  for (const CacheKey& key : keys) {
    const CacheKeyFields fields = *DecodeKeyMaterial(key.material());
    ASSERT_FALSE(fields.empty());
    for (const auto& [name, value] : fields) EXPECT_TRUE(words.contains(WordOfKeyField(name))) << name;
  }
}

TEST(CacheKeys, AFieldOfAnotherVersionIsCalledByItsName) {
  EXPECT_EQ(WordOfKeyField("a field of 2031"), "a field of 2031");
}

// Fields can't run into each other: no two different lists of fields have one encoding.
TEST(CacheKeys, RandomFieldListsOfOneTextNeverShareAKey) {
  std::mt19937 random(7);
  std::set<Fingerprint> digests;
  std::set<CacheKeyFields> lists;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = "aabbccdd";
    CacheKey key(BlobKind::kPlan);
    CacheKeyFields fields;
    for (size_t at = 0; at < text.size();) {
      const size_t name = random() % 3, value = random() % 4;
      const std::string field = text.substr(at, name);
      at = std::min(text.size(), at + name);
      const std::string content = text.substr(at, value);
      at = std::min(text.size(), at + value);
      key.Add(field, content);
      fields.emplace_back(field, content);
    }
    digests.insert(key.digest());
    lists.insert(fields);
  }
  EXPECT_EQ(digests.size(), lists.size());
}

}  // namespace
}  // namespace hearth
