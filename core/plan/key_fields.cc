#include "core/plan/key_fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>

#include "core/base/members.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/device/device_rules.h"
#include "core/plan/member_writer.h"
#include "core/plan/tuning.h"

namespace hearth {
namespace {

// ---- A member's value as text: different values have different texts ----

std::string KeyText(const std::string& text) {
  return text;
}
template <std::integral Number>
std::string KeyText(Number number) {  // 1 or 0 for a flag
  return std::to_string(number);
}
template <typename Number, size_t N>
std::string KeyText(const std::array<Number, N>& numbers) {
  return fmt::format("{}", fmt::join(numbers, "x"));
}
std::string KeyText(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ","));
}
std::string KeyText(Dialect dialect) {
  return std::string(DialectName(dialect));
}
std::string KeyText(DeviceType type) {
  return std::string(DeviceTypeName(type));
}
std::string KeyText(CompileGrouping grouping) {
  return grouping == CompileGrouping::kTogether ? "together" : "each";
}
std::string KeyText(const ForcedRules& rules) {
  return ToText(rules);
}
std::string KeyText(Precision precision) {
  return std::string(PrecisionName(precision));
}
std::string KeyText(Preference preference) {
  return std::string(PreferenceName(preference));
}
std::string KeyText(const std::optional<AccessPath>& path) {
  return path.has_value() ? std::string(AccessPathName(*path)) : "";
}
std::string KeyText(const TuningTable& table) {
  const std::string text = ToText(table);
  return FingerprintOf(BytesOf(text)).ToHex();
}
std::string KeyText(PackLayout layout) {
  return fmt::to_string(static_cast<int>(layout));
}
std::string KeyText(StorageType storage) {
  return fmt::to_string(static_cast<int>(storage));
}
std::string KeyText(const std::optional<StoredForm>& stored) {
  if (!stored) return "";
  std::string text = fmt::format("from {}", stored->view.base);
  for (const auto& [radix, stride] : stored->view.digits) text += fmt::format(" {}:{}", radix, stride);
  if (stored->type != FileType::kSame) text += fmt::format(" of type {}", static_cast<int>(stored->type));
  for (const auto& [by_row, numbers] : stored->factors)
    text +=
        fmt::format(" {} times {}", by_row ? "rows" : "columns", HexOf(Sha256Of(std::as_bytes(std::span(numbers)))));
  return text;
}
std::string KeyText(const TensorDesc& desc) {
  static_assert(kMemberCount<TensorDesc> == 3 && kMemberCount<Quantization> == 4, "add the new member here");
  std::string text = fmt::format("{} {}", DTypeName(desc.dtype), desc.shape);
  if (!desc.quantization.has_value()) return text;
  const auto& [scales, zero_points, dimension, blocks] = *desc.quantization;
  text += fmt::format(" scales {} zero points {} along {}", HexOf(Sha256Of(std::as_bytes(std::span(scales)))),
                      HexOf(Sha256Of(std::as_bytes(std::span(zero_points)))), dimension);
  if (blocks == nullptr) return text;
  MemberWriter writer;
  writer(blocks);
  return text + " blocks " + HexOf(Sha256Of(writer.TakeBytes()));
}

// ---- Rows ----

// kUnlessEmpty: an empty value is left out, so that keys from before the field was there remain what they were.
enum DeviceKeys : uint8_t { kNoKey = 0, kIdentity = 1, kCapability = 2, kBoth = 3, kUnlessEmpty = 4 };

template <typename Struct>
struct Row {
  std::string_view name, word;
  std::string (*text)(const Struct&);
  std::string_view member;  // distinct for each member
  uint8_t keys;
};

// A distinct text for each member. GCC 12 can't compare addresses at compile time under sanitizers.
template <auto kMember>
constexpr std::string_view TextOfMember() {
  return __PRETTY_FUNCTION__;
}

template <typename Struct, auto kMember>
constexpr Row<Struct> RowOf(std::string_view name, std::string_view word, uint8_t keys = kBoth) {
  return {name, word, [](const Struct& value) { return KeyText(value.*kMember); }, TextOfMember<kMember>(), keys};
}

// Whether the rows have each member once.
template <typename Struct, size_t N>
constexpr bool AreMembersOf(const std::array<Row<Struct>, N>& rows) {
  for (size_t k = 0; k < N; ++k) {
    for (size_t other = 0; other < k; ++other) {
      if (rows[k].member == rows[other].member || rows[k].name == rows[other].name) return false;
    }
  }
  return N == kMemberCount<Struct>;
}

using D = DeviceInfo;
constexpr std::string_view kLimit = "device capability";
constexpr std::array kDeviceRows = {
    // First: a key that lacks it must not be the beginning of one that has it (ResultCache::Visit).
    RowOf<D, &D::driver_environment>("driver environment", "driver environment", kIdentity | kUnlessEmpty),
    RowOf<D, &D::backend>("backend", "backend"),
    RowOf<D, &D::dialect>("dialect", "backend", kCapability),
    RowOf<D, &D::type>("type", "type", kCapability),
    RowOf<D, &D::id>("id", "device", kNoKey),  // its position in a list
    RowOf<D, &D::name>("device", "device", kIdentity),
    RowOf<D, &D::vendor>("vendor", "device", kIdentity),
    RowOf<D, &D::driver_version>("driver", "driver version", kIdentity),
    RowOf<D, &D::uuid>("uuid", "device uuid", kIdentity),
    RowOf<D, &D::max_local_size>("local size", kLimit, kCapability),
    RowOf<D, &D::max_local_invocations>("local invocations", kLimit, kCapability),
    RowOf<D, &D::max_group_count>("group count", kLimit, kCapability),
    RowOf<D, &D::local_memory_bytes>("local memory", kLimit, kCapability),
    RowOf<D, &D::max_buffer_bytes>("max buffer", kLimit, kCapability),
    RowOf<D, &D::max_binding_bytes>("max binding", kLimit, kCapability),
    RowOf<D, &D::max_texel_elements>("max texels", kLimit, kCapability),
    RowOf<D, &D::buffer_offset_alignment>("alignment", kLimit, kCapability),
    RowOf<D, &D::max_storage_buffers>("storage buffers", kLimit, kCapability),
    RowOf<D, &D::max_texel_buffers>("texel buffers", kLimit, kCapability),
    RowOf<D, &D::max_scalar_bytes>("scalar bytes", kLimit, kCapability),
    RowOf<D, &D::max_argument_bytes>("argument bytes", kLimit, kCapability),
    RowOf<D, &D::compute_units>("compute units", kLimit, kCapability),
    RowOf<D, &D::native_vector_floats>("vector floats", kLimit, kCapability),
    RowOf<D, &D::subgroup_size>("subgroup", kLimit, kCapability),
    RowOf<D, &D::matrix_shape>("matrix shape", kLimit, kCapability),
    RowOf<D, &D::multiplies_bytes>("multiplies bytes", kLimit, kNoKey),  // of the host, whose plan is not kept
    RowOf<D, &D::int64>("int64", kLimit, kCapability),
    RowOf<D, &D::fp16_storage>("fp16 storage", kLimit, kCapability),
    RowOf<D, &D::fp16_arithmetic>("fp16 arithmetic", kLimit, kCapability),
    RowOf<D, &D::unified_memory>("unified memory", kLimit, kCapability),
    RowOf<D, &D::is_cached_by_host>("cached by host", kLimit, kNoKey),  // where weights are packed, not how
    RowOf<D, &D::compile_grouping>("compile grouping", kLimit, kCapability),
    RowOf<D, &D::binary_cpus>("binary cpus", kLimit, kNoKey),  // kCpusField, of programs alone
    RowOf<D, &D::forced_rules>("rules", "option", kCapability),
    RowOf<D, &D::simulates>("simulates", "device profile", kCapability),
};
static_assert(AreMembersOf(kDeviceRows), "each member of DeviceInfo needs a row");

using O = LowerOptions;
constexpr std::array kOptionRows = {
    RowOf<O, &O::precision>("precision", "option"),   RowOf<O, &O::read_path>("read path", "option"),
    RowOf<O, &O::cpu_ops>("cpu ops", "option"),       RowOf<O, &O::preference>("preference", "option"),
    RowOf<O, &O::low_memory>("low memory", "option"), RowOf<O, &O::tuned>("tuning", "tuning record"),
};
static_assert(AreMembersOf(kOptionRows), "each member of LowerOptions needs a row");

using P = PackRecipe;
constexpr std::array kRecipeRows = {
    RowOf<P, &P::layout>("layout", "layout"),   RowOf<P, &P::source>("source", "weights"),
    RowOf<P, &P::width>("width", "layout"),     RowOf<P, &P::dims>("dims", "layout"),
    RowOf<P, &P::storage>("storage", "layout"), RowOf<P, &P::stored>("stored", "weights"),
};
static_assert(AreMembersOf(kRecipeRows), "each member of PackRecipe needs a row");

constexpr KeyField kOtherFields[] = {
    kPlanSourcesField, kWeightSourcesField, kTuningSourcesField, kProbeSourcesField, kSelfTestSourcesField,
    kCompilerField,    kModelField,         kModelTokenField,    kSignatureField,    kInputShapesField,
    kTopKField,        kClassMapsField,     kContentField,       kKernelField,       kTextField,
    kGridsField,       kCpusField,          kLayerField,         kConstantsField,    kCustomOpsField,
};

template <typename Struct, size_t N>
void AddRows(CacheKey& key, const std::array<Row<Struct>, N>& rows, const Struct& value, uint8_t keys) {
  for (const Row<Struct>& row : rows) {
    if ((row.keys & keys) == 0) continue;
    const std::string text = row.text(value);
    if (!text.empty() || (row.keys & kUnlessEmpty) == 0) key.Add(row.name, text);
  }
}

}  // namespace

void AddToKey(CacheKey& key, const DeviceIdentity& device) {
  AddRows(key, kDeviceRows, *device, kIdentity);
}

void AddToKey(CacheKey& key, const DeviceCapability& device) {
  AddRows(key, kDeviceRows, *device, kCapability);
}

void AddToKey(CacheKey& key, const LowerOptions& options) {
  AddRows(key, kOptionRows, options, kBoth);
}

void AddToKey(CacheKey& key, const PackRecipe& recipe) {
  AddRows(key, kRecipeRows, recipe, kBoth);
}

std::string WordOfKeyField(std::string_view name) {
  std::string word(name);
  const auto look = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (row.name == name) word = row.word;
    }
  };
  look(kDeviceRows);
  look(kOptionRows);
  look(kRecipeRows);
  look(kOtherFields);
  return word;
}

}  // namespace hearth
