// The fields of an ONNX file (protocol buffers, onnx.proto of ONNX 1.23) that Hearth reads, as views into its bytes.
// Fields may stand in any order; unknown ones are skipped.
#ifndef HEARTH_FRONTENDS_ONNX_PROTO_H_
#define HEARTH_FRONTENDS_ONNX_PROTO_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/status.h"

namespace hearth::onnx {

// Graphs in attributes, and functions, one in the other.
inline constexpr int kMostLevels = 64;

// TensorProto.DataType.
enum DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kUint4 = 21,
  kInt4 = 22,
  kUint2 = 25,
  kInt2 = 26,
};

// Names of the other types too: "float8e4m3fn".
std::string_view DataTypeName(int32_t type);

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

struct TensorProto {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t type = kUndefined;
  std::optional<std::string_view> raw;
  std::vector<std::string_view> texts;
  int32_t location = 0;
  Pairs external;            // "location", "offset", "length", ...
  std::string_view message;  // all of it, for the lists of numbers

  bool is_external() const { return location == 1; }
};

struct Dimension {
  int64_t size = -1;       // -1: open
  std::string_view param;  // the name of an open one, if it has one
};

struct TensorTypeProto {
  bool is_tensor = false;
  int32_t type = kUndefined;
  std::optional<std::vector<Dimension>> dims;  // nothing: the rank is open
};

struct ValueInfoProto : TensorTypeProto {
  std::string_view name;
};

struct GraphProto;

// Values of AttributeProto::type.
enum AttributeType : int32_t {
  kNoAttributeType = 0,
  kFloatAttribute = 1,
  kIntAttribute = 2,
  kTextAttribute = 3,
  kTensorAttribute = 4,
  kFloatsAttribute = 6,
  kIntsAttribute = 7,
  kTextsAttribute = 8
};

struct AttributeProto {
  int32_t type = kNoAttributeType;   // old writers leave it out
  std::string_view name, reference;  // `reference`: in a function, the attribute of its caller that it stands for
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::shared_ptr<const TensorProto> tensor;
  std::shared_ptr<const GraphProto> graph;
};

struct NodeProto {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

struct GraphProto {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfoProto> inputs, outputs;
  bool has_sparse = false;
};

// Versions of operator sets by domain; "ai.onnx" is "".
using OperatorSets = std::map<std::string_view, int64_t>;

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> defaults;
  std::vector<NodeProto> nodes;
  OperatorSets sets;
};

struct ModelProto {
  std::string_view doc;
  OperatorSets sets;
  Pairs metadata;
  std::optional<GraphProto> graph;
  std::vector<FunctionProto> functions;
};

// Takes what a model holds, in the order of the file: of its graph, of those in attributes, and of functions.
struct ModelVisitor {
  std::function<void(const NodeProto& node)> node = {};
  std::function<void(const NodeProto& node, const AttributeProto& attribute)> attribute = {};
  std::function<void(const TensorProto& tensor)> tensor = {};
};
void Visit(const ModelProto& model, const ModelVisitor& visitor);

// Whether the bytes are fields as a model has them, a graph among them. Only the top level is looked at.
bool LooksLikeModel(std::span<const std::byte> bytes);

// kMalformedInput: a length that points outside of its message, too many or too deeply nested messages.
Result<ModelProto> ParseModel(std::span<const std::byte> bytes);

// The numbers of a tensor's typed lists in their type's own bytes, little-endian: at most `most` bytes.
Result<std::vector<std::byte>> ListedBytes(const TensorProto& tensor, size_t most);
// The list of a float32 tensor that the file holds in one piece, as it lies there; empty for others.
std::span<const std::byte> ListedFloats(const TensorProto& tensor);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_PROTO_H_
