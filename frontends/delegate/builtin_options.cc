#include "frontends/delegate/builtin_options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include "core/base/numbers.h"

namespace hearth {
namespace {

// The conversion of a member of the interpreter's struct to a field of the file's table.
enum class Kind : uint8_t {
  kInt,      // int -> int
  kFloat,    // float -> float
  kBool,     // bool -> byte
  kEnum,     // enumeration, an int32_t, with the file's numbers -> byte
  kPadding,  // enumeration that counts from 1 (the file's from 0) -> byte
  kType,     // element type -> byte
  kDims,     // int32_t[8] followed by a count -> list
  kFloats,   // a count followed by a pointer to as many floats -> list
};
using enum Kind;

constexpr size_t kMaxDims = 8;

struct OptionsRow {
  int32_t code;          // of the operator
  uint8_t options_type;  // tag of the file's union
  // The first members of the struct behind TfLiteNode::builtin_data, which are the fields of the file's table in order.
  std::initializer_list<Kind> fields;
  uint16_t first_field = 0;                    // its number in the table
  std::initializer_list<size_t> offsets = {};  // of the members, if the struct has them in another order
};

constexpr std::initializer_list<Kind> kPool = {kPadding, kInt, kInt, kInt, kInt, kEnum};
constexpr std::initializer_list<Kind> kConv3D = {kPadding, kInt, kInt, kInt, kEnum, kInt, kInt, kInt};
constexpr std::initializer_list<size_t> kConv3DOffsets = {0, 12, 4, 8, 28, 24, 16, 20};

// Sorted by code.
constexpr OptionsRow kBuiltinRows[] = {
    {0, 11, {kEnum}},                                         // ADD
    {1, 5, kPool},                                            // AVERAGE_POOL_2D
    {2, 10, {kInt, kEnum}},                                   // CONCATENATION
    {3, 1, {kPadding, kInt, kInt, kEnum, kInt, kInt}},        // CONV_2D
    {4, 2, {kPadding, kInt, kInt, kInt, kEnum, kInt, kInt}},  // DEPTHWISE_CONV_2D
    {5, 94, {kInt}},                                          // DEPTH_TO_SPACE
    {9, 8, {kEnum, kEnum, kBool}},                            // FULLY_CONNECTED
    {11, 12, {kEnum}},                                        // L2_NORMALIZATION
    {12, 5, kPool},                                           // L2_POOL_2D
    {13, 13, {kInt, kFloat, kFloat, kFloat}},                 // LOCAL_RESPONSE_NORMALIZATION
    {16, 14, {kEnum, kFloat, kFloat, kEnum}},                 // LSTM
    {17, 5, kPool},                                           // MAX_POOL_2D
    {18, 21, {kEnum}},                                        // MUL
    {22, 17, {kDims}},                                        // RESHAPE
    {23, 15, {kBool, kBool}, 2},                              // RESIZE_BILINEAR
    {24, 7, {kEnum}},                                         // RNN
    {25, 9, {kFloat}},                                        // SOFTMAX
    {26, 19, {kInt}},                                         // SPACE_TO_DEPTH
    {27, 6, {kInt, kEnum}},                                   // SVDF
    {33, 20, {kEnum}},                                        // EMBEDDING_LOOKUP_SPARSE
    {35, 31, {kBool, kEnum}},                                 // UNIDIRECTIONAL_SEQUENCE_RNN
    {36, 23, {kInt, kInt}},                                   // GATHER
    {40, 27, {kBool}},                                        // MEAN
    {41, 28, {kEnum}},                                        // SUB
    {42, 29, {kEnum}},                                        // DIV
    {43, 30, {kDims}},                                        // SQUEEZE
    {44, 71, {kEnum, kFloat, kFloat, kBool}},                 // UNIDIRECTIONAL_SEQUENCE_LSTM
    {45, 32, {kInt, kInt, kInt, kInt, kInt, kBool}},          // STRIDED_SLICE
    {46, 70, {kBool, kEnum, kBool}},                          // BIDIRECTIONAL_SEQUENCE_RNN
    {49, 35, {kInt}},                                         // SPLIT
    {52, 69, {kEnum, kFloat, kFloat, kBool, kBool}},          // BIDIRECTIONAL_SEQUENCE_LSTM
    {53, 37, {kType, kType}},                                 // CAST
    {56, 40, {kType}},                                        // ARG_MAX
    {67, 49, {kPadding, kInt, kInt, kEnum}},                  // TRANSPOSE_CONV
    {74, 27, {kBool}},                                        // SUM
    {79, 57, {kType}},                                        // ARG_MIN
    {80, 58, {kFloat, kFloat, kInt, kBool}},                  // FAKE_QUANT
    {81, 27, {kBool}},                                        // REDUCE_PROD
    {82, 27, {kBool}},                                        // REDUCE_MAX
    {83, 59, {kInt, kInt}},                                   // PACK
    {85, 61, {kInt}},                                         // ONE_HOT
    {88, 64, {kInt, kInt}},                                   // UNPACK
    {89, 27, {kBool}},                                        // REDUCE_MIN
    {91, 27, {kBool}},                                        // REDUCE_ANY
    {97, 74, {kBool, kBool}},                                 // RESIZE_NEAREST_NEIGHBOR
    {98, 75, {kFloat}},                                       // LEAKY_RELU
    {100, 77, {kPadding}},                                    // MIRROR_PAD
    {102, 79, {kInt}},                                        // SPLIT_V
    {112, 87, {kInt, kInt}},                                  // REVERSE_SEQUENCE
    {126, 101, {kBool, kBool}},                               // BATCH_MATMUL
    {128, 102, {kBool, kBool}},                               // CUMSUM
    {132, 106, kConv3D, 0, kConv3DOffsets},                   // CONV_3D
    {140, 27, {kBool}},                                       // REDUCE_ALL
    {141, 106, kConv3D, 0, kConv3DOffsets},                   // CONV_3D_TRANSPOSE
    {147, 115, {kFloats}},                                    // BUCKETIZE
    {150, 116, {kBool}},                                      // GELU
};
static_assert(std::is_sorted(std::begin(kBuiltinRows), std::end(kBuiltinRows),
                             [](const OptionsRow& a, const OptionsRow& b) { return a.code < b.code; }));

// Indexed by the interpreter's number.
constexpr std::array<int8_t, 24> kFileTypes = {-1, 0,  2,  3,  4,  5,  6,  7,  8,  9,  1,  10,
                                               11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22};

template <typename T>
T Load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

OptionToWrite OptionOf(uint16_t field, Kind kind, const std::byte* member) {
  OptionToWrite option;
  option.field = field;
  switch (kind) {
    case kInt: option.number = Load<int32_t>(member); break;
    case kFloat:
      option.kind = OptionToWrite::Kind::kFloat;
      option.real = Load<float>(member);
      break;
    case kDims: {
      option.kind = OptionToWrite::Kind::kInt32List;
      const auto count = Load<int32_t>(member + kMaxDims * sizeof(int32_t));
      option.list.resize(static_cast<size_t>(std::clamp<int32_t>(count, 0, kMaxDims)));
      for (size_t k = 0; k < option.list.size(); ++k) option.list[k] = Load<int32_t>(member + 4 * k);
      break;
    }
    case kFloats: {
      // A list of 32-bit numbers in the file, of any type.
      option.kind = OptionToWrite::Kind::kInt32List;
      const auto count = Load<int32_t>(member);
      const auto* numbers = Load<const float*>(member + sizeof(const float*));
      if (numbers != nullptr && count > 0) option.list.resize(static_cast<size_t>(count));
      if (!option.list.empty()) std::memcpy(option.list.data(), numbers, option.list.size() * sizeof(float));
      break;
    }
    default:
      option.kind = OptionToWrite::Kind::kByte;
      if (kind == kBool) option.number = Load<uint8_t>(member) != 0 ? 1 : 0;
      if (kind == kEnum) option.number = Load<int32_t>(member);
      if (kind == kPadding) option.number = Load<int32_t>(member) - 1;
      if (kind == kType) option.number = FileTypeOf(Load<int32_t>(member));
      option.number = std::clamp(option.number, -1, 127);  // out of range becomes an unknown enumerator
  }
  return option;
}

}  // namespace

int8_t FileTypeOf(int32_t interpreter_type) {
  const bool is_known = interpreter_type >= 0 && interpreter_type < static_cast<int32_t>(kFileTypes.size());
  return is_known ? kFileTypes[static_cast<size_t>(interpreter_type)] : static_cast<int8_t>(-1);
}

void SetOptions(const void* builtin_data, OperatorToWrite& op) {
  const auto* row = std::lower_bound(std::begin(kBuiltinRows), std::end(kBuiltinRows), op.code,
                                     [](const OptionsRow& a, int32_t code) { return a.code < code; });
  if (builtin_data == nullptr || row == std::end(kBuiltinRows) || row->code != op.code) return;
  op.options_type = row->options_type;
  uint16_t field = row->first_field;
  size_t offset = 0;
  for (const Kind kind : row->fields) {
    const size_t size = kind == kBool ? 1 : sizeof(int32_t);
    offset = RoundUp(offset, size);
    const size_t nth = field - row->first_field;
    if (nth < row->offsets.size()) offset = row->offsets.begin()[nth];
    op.options.push_back(OptionOf(field++, kind, static_cast<const std::byte*>(builtin_data) + offset));
    offset += size;
  }
}

}  // namespace hearth
