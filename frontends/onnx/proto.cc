#include "frontends/onnx/proto.h"

#include <bit>
#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "core/base/error.h"

namespace hearth::onnx {
namespace {

using protozero::pbf_wire_type;

constexpr int64_t kMostMessages = 500'000;  // a large model has about 100,000; bounds memory and time

// Thrown as protozero throws its errors, and caught with them.
struct BadMessage : std::exception {
  explicit BadMessage(const char* text) : text(text) {}
  const char* what() const noexcept override { return text; }
  const char* text;
};

// A message's fields. protozero leaves it to its callers to check that a field is stored as its type is.
class Field : public protozero::pbf_reader {
 public:
  Field(const char* data, size_t size) : pbf_reader(data, size) {}
  Field(const pbf_reader& message) : pbf_reader(message) {}  // NOLINT: implicit

  int32_t get_int32() { return As(pbf_wire_type::varint).pbf_reader::get_int32(); }
  int64_t get_int64() { return As(pbf_wire_type::varint).pbf_reader::get_int64(); }
  uint64_t get_uint64() { return As(pbf_wire_type::varint).pbf_reader::get_uint64(); }
  float get_float() { return As(pbf_wire_type::fixed32).pbf_reader::get_float(); }
  double get_double() { return As(pbf_wire_type::fixed64).pbf_reader::get_double(); }
  protozero::data_view get_view() { return As(pbf_wire_type::length_delimited).pbf_reader::get_view(); }
  Field get_message() { return As(pbf_wire_type::length_delimited).pbf_reader::get_message(); }

 private:
  Field& As(pbf_wire_type type) {
    if (wire_type() != type) throw BadMessage("a field of another type");
    return *this;
  }
};

std::string_view TextOf(Field& field) {
  const protozero::data_view view = field.get_view();
  return {view.data(), view.size()};
}

std::string_view DomainOf(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

// Appends the numbers of a field that writers may pack or repeat.
template <typename Number, typename Range, typename One>
void Append(Field& field, std::vector<Number>& list, Range packed, One one) {
  if (field.wire_type() != pbf_wire_type::length_delimited) return list.push_back((field.*one)());
  for (const auto number : (field.*packed)()) list.push_back(number);
}

// A field of a message, by its number, and what it is read into.
template <typename T>
struct Member {
  Member(uint32_t field_number, T& into) : number(field_number), to(into) {}
  uint32_t number;
  T& to;
};

class Parser {
 public:
  ModelProto Model(const Field& message) {
    ModelProto model;
    ReadFields(message, Member(6, model.doc), Member(7, model.graph), Member(8, model.sets), Member(14, model.metadata),
               Member(25, model.functions));
    return model;
  }

 private:
  // Reads a message's fields, in any order; others are skipped.
  template <typename... Members>
  void ReadFields(Field message, const Members&... members) {
    while (message.next()) {
      if (!(Takes(message, members) || ...)) message.skip();
    }
  }
  template <typename T>
  bool Takes(Field& field, const Member<T>& member) {
    if (field.tag() != member.number) return false;
    Read(field, member.to);
    return true;
  }

  void Read(Field& field, std::string_view& text) { text = TextOf(field); }
  void Read(Field& field, int32_t& number) { number = field.get_int32(); }
  void Read(Field& field, int64_t& number) { number = field.get_int64(); }
  void Read(Field& field, float& number) { number = field.get_float(); }
  void Read(Field& field, bool& is_there) {
    is_there = true;
    field.skip();
  }
  void Read(Field& field, std::vector<int64_t>& list) {
    Append(field, list, &Field::get_packed_int64, &Field::get_int64);
  }
  void Read(Field& field, std::vector<float>& list) {
    Append(field, list, &Field::get_packed_float, &Field::get_float);
  }
  template <typename T>
  void Read(Field& field, std::vector<T>& list) {
    Read(field, list.emplace_back());
  }
  template <typename T>
  void Read(Field& field, std::optional<T>& one) {
    Read(field, one.emplace());
  }
  template <typename T>
  void Read(Field& field, std::shared_ptr<const T>& one) {
    const auto made = std::make_shared<T>();
    Read(field, *made);
    one = made;
  }

  // The message in a field, which is counted.
  Field Enter(Field& field) {
    Field message = field.get_message();
    if (--messages_left_ < 0) throw BadMessage("more than 500,000 nodes, tensors and attributes");
    return message;
  }

  void Read(Field& field, Pairs::value_type& pair) {
    ReadFields(Enter(field), Member(1, pair.first), Member(2, pair.second));
  }

  void Read(Field& field, OperatorSets& sets) {
    std::string_view domain;
    int64_t version = 0;
    ReadFields(Enter(field), Member(1, domain), Member(2, version));
    sets.insert_or_assign(DomainOf(domain), version);
  }

  void Read(Field& field, GraphProto& graph) {
    const Field message = Enter(field);
    if (++level_ > kMostLevels) throw BadMessage("graphs that are nested more than 64 deep");
    ReadFields(message, Member(1, graph.nodes), Member(2, graph.name), Member(5, graph.initializers),
               Member(11, graph.inputs), Member(12, graph.outputs), Member(15, graph.has_sparse));
    --level_;
  }

  void Read(Field& field, FunctionProto& function) {
    ReadFields(Enter(field), Member(1, function.name), Member(4, function.inputs), Member(5, function.outputs),
               Member(7, function.nodes), Member(9, function.sets), Member(10, function.domain),
               Member(11, function.defaults), Member(13, function.overload));
    function.domain = DomainOf(function.domain);
  }

  void Read(Field& field, NodeProto& node) {
    ReadFields(Enter(field), Member(1, node.inputs), Member(2, node.outputs), Member(3, node.name),
               Member(4, node.op_type), Member(5, node.attributes), Member(7, node.domain), Member(8, node.overload));
    node.domain = DomainOf(node.domain);
  }

  void Read(Field& field, AttributeProto& made) {
    ReadFields(Enter(field), Member(1, made.name), Member(2, made.f), Member(3, made.i), Member(4, made.s),
               Member(5, made.tensor), Member(6, made.graph), Member(7, made.floats), Member(8, made.ints),
               Member(9, made.strings), Member(20, made.type), Member(21, made.reference));
  }

  void Read(Field& field, TensorProto& tensor) {
    const Field message = Enter(field);
    tensor.message = {message.data().data(), message.data().size()};
    ReadFields(message, Member(1, tensor.dims), Member(2, tensor.type), Member(6, tensor.texts), Member(8, tensor.name),
               Member(9, tensor.raw), Member(13, tensor.external), Member(14, tensor.location));
  }

  void Read(Field& field, ValueInfoProto& info) {
    ReadFields(Enter(field), Member(1, info.name), Member(2, static_cast<TensorTypeProto&>(info)));
  }

  void Read(Field& field, TensorTypeProto& type) {
    Field message = field.get_message();
    while (message.next(1)) {  // not a sequence, map or optional
      type.is_tensor = true;
      ReadFields(message.get_message(), Member(1, type.type), Member(2, type.dims));
    }
  }

  void Read(Field& field, std::optional<std::vector<Dimension>>& dims) {
    ReadFields(field.get_message(), Member(1, dims.emplace()));
  }

  void Read(Field& field, Dimension& dim) {
    ReadFields(field.get_message(), Member(1, dim.size), Member(2, dim.param));
  }

  int64_t messages_left_ = kMostMessages;
  int level_ = 0;
};

// Appends numbers of a list as `Stored`, up to `most` bytes.
template <typename Stored, typename Number, typename Range, typename One>
void AppendBytes(Field& field, std::vector<std::byte>& bytes, size_t most, Range packed, One one) {
  const auto check_room = [&](size_t count) {
    if (count > most - bytes.size()) throw BadMessage("more numbers than its shape has elements");
  };
  const auto append = [&](Number number) {
    check_room(sizeof(Stored));
    const auto stored = static_cast<Stored>(number);
    const auto* first = reinterpret_cast<const std::byte*>(&stored);
    bytes.insert(bytes.end(), first, first + sizeof(Stored));
  };
  if (field.wire_type() != pbf_wire_type::length_delimited) return append((field.*one)());
  if constexpr (std::is_floating_point_v<Stored> && std::endian::native == std::endian::little) {  // as they lie there
    const protozero::data_view list = field.get_view();
    if (list.size() % sizeof(Stored) != 0) throw BadMessage("a list that ends within a number");
    check_room(list.size());
    const auto* first = reinterpret_cast<const std::byte*>(list.data());
    bytes.insert(bytes.end(), first, first + list.size());
  } else {
    for (const Number number : (field.*packed)()) append(number);
  }
}

void AppendNumbers(Field& message, int32_t type, std::vector<std::byte>& bytes, size_t most) {
  const auto from_int32 = [&]<typename Stored>(Stored) {
    AppendBytes<Stored, int32_t>(message, bytes, most, &Field::get_packed_int32, &Field::get_int32);
  };
  const auto from_uint64 = [&]<typename Stored>(Stored) {
    AppendBytes<Stored, uint64_t>(message, bytes, most, &Field::get_packed_uint64, &Field::get_uint64);
  };
  switch (message.tag()) {
    case 4: return AppendBytes<float, float>(message, bytes, most, &Field::get_packed_float, &Field::get_float);
    case 5:
      switch (type) {
        case kUint8:
        case kInt8:
        case kUint4:
        case kInt4:
        case kUint2:
        case kInt2:
        case kBool: return from_int32(uint8_t{});
        case kInt32: return from_int32(int32_t{});
        default: return from_int32(uint16_t{});
      }
    case 7: return AppendBytes<int64_t, int64_t>(message, bytes, most, &Field::get_packed_int64, &Field::get_int64);
    case 10: return AppendBytes<double, double>(message, bytes, most, &Field::get_packed_double, &Field::get_double);
    case 11: return type == kUint32 ? from_uint64(uint32_t{}) : from_uint64(uint64_t{});
    default: message.skip();
  }
}

void VisitNodes(const std::vector<NodeProto>& nodes, const ModelVisitor& visitor);

void VisitGraph(const GraphProto& graph, const ModelVisitor& visitor) {
  VisitNodes(graph.nodes, visitor);
  for (const TensorProto& tensor : graph.initializers) {
    if (visitor.tensor) visitor.tensor(tensor);
  }
}

void VisitNodes(const std::vector<NodeProto>& nodes, const ModelVisitor& visitor) {
  for (const NodeProto& node : nodes) {
    if (visitor.node) visitor.node(node);
    for (const AttributeProto& attribute : node.attributes) {
      if (visitor.attribute) visitor.attribute(node, attribute);
      if (attribute.tensor != nullptr && visitor.tensor) visitor.tensor(*attribute.tensor);
      if (attribute.graph != nullptr) VisitGraph(*attribute.graph, visitor);
    }
  }
}

Status Damaged(const std::exception& why) {
  return Error(StatusCode::kMalformedInput, "a damaged ONNX file ({}): fetch or export it again", why.what());
}

}  // namespace

std::string_view DataTypeName(int32_t type) {
  constexpr std::string_view kNames[] = {
      "undefined", "float32",    "uint8",      "int8",       "uint16",         "int16",      "int32",
      "int64",     "string",     "bool",       "float16",    "float64",        "uint32",     "uint64",
      "complex64", "complex128", "bfloat16",   "float8e4m3", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",     "int4",       "float4e2m1", "float8e8m0", "uint2",          "int2"};
  return type >= 0 && static_cast<size_t>(type) < std::size(kNames) ? kNames[type] : "an unknown type";
}

void Visit(const ModelProto& model, const ModelVisitor& visitor) {
  if (model.graph) VisitGraph(*model.graph, visitor);
  for (const FunctionProto& function : model.functions) VisitNodes(function.nodes, visitor);
}

bool LooksLikeModel(std::span<const std::byte> bytes) {
  // Of one that is cut off the first two fields tell.
  const auto at = [&](size_t k) { return k < bytes.size() ? std::to_integer<int>(bytes[k]) : -1; };
  if (at(0) == 0x08 && at(1) >= 1 && at(1) <= 32 && (at(2) == 0x12 || at(2) == 0x3a || at(2) == 0x42)) return true;
  try {
    Field message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bool has_version = false, has_graph = false;
    while (message.next() && message.tag() <= 64) {
      const bool is_number = message.tag() == 1 || message.tag() == 5;
      if (message.wire_type() != (is_number ? pbf_wire_type::varint : pbf_wire_type::length_delimited)) return false;
      has_version = has_version || message.tag() == 1;
      has_graph = has_graph || message.tag() == 7;
      // Whatever lies behind them (the files with its weights), that is a model.
      if (has_version && has_graph) return true;
      message.skip();
    }
  } catch (const std::exception&) {
  }
  return false;
}

Result<ModelProto> ParseModel(std::span<const std::byte> bytes) {
  try {
    return Parser().Model(Field(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  } catch (const std::exception& why) {
    return Damaged(why);
  }
}

std::span<const std::byte> ListedFloats(const TensorProto& tensor) {
  std::span<const std::byte> found;
  if (tensor.type != kFloat || std::endian::native != std::endian::little) return found;
  try {
    Field message(tensor.message.data(), tensor.message.size());
    while (message.next(4)) {
      if (!found.empty() || message.wire_type() != pbf_wire_type::length_delimited) return {};
      const protozero::data_view list = message.get_view();
      found = std::as_bytes(std::span(list.data(), list.size()));
    }
    return found;
  } catch (const std::exception&) {
    return {};
  }
}

Result<std::vector<std::byte>> ListedBytes(const TensorProto& tensor, size_t most) {
  try {
    std::vector<std::byte> bytes;
    Field message(tensor.message.data(), tensor.message.size());
    while (message.next()) AppendNumbers(message, tensor.type, bytes, most);
    return bytes;
  } catch (const std::exception& why) {
    return Damaged(why);
  }
}

}  // namespace hearth::onnx
