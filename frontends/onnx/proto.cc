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

class Parser {
 public:
  ModelProto Model(Field message) {
    ModelProto model;
    while (message.next()) {
      switch (message.tag()) {
        case 6: model.doc = TextOf(message); break;
        case 7: model.graph = Graph(message.get_message()); break;
        case 8: AddSet(message.get_message(), model.sets); break;
        case 14: model.metadata.push_back(Pair(message.get_message())); break;
        case 25: model.functions.push_back(Function(message.get_message())); break;
        default: message.skip();
      }
    }
    return model;
  }

 private:
  // Counts a message.
  void Enter() {
    if (--messages_left_ < 0) throw BadMessage("more than 500,000 nodes, tensors and attributes");
  }

  std::pair<std::string_view, std::string_view> Pair(Field message) {
    Enter();
    std::pair<std::string_view, std::string_view> pair;
    while (message.next()) {
      switch (message.tag()) {
        case 1: pair.first = TextOf(message); break;
        case 2: pair.second = TextOf(message); break;
        default: message.skip();
      }
    }
    return pair;
  }

  void AddSet(Field message, OperatorSets& sets) {
    Enter();
    std::string_view domain;
    int64_t version = 0;
    while (message.next()) {
      switch (message.tag()) {
        case 1: domain = TextOf(message); break;
        case 2: version = message.get_int64(); break;
        default: message.skip();
      }
    }
    sets.insert_or_assign(DomainOf(domain), version);
  }

  GraphProto Graph(Field message) {
    Enter();
    if (++level_ > kMostLevels) throw BadMessage("graphs that are nested more than 64 deep");
    GraphProto graph;
    while (message.next()) {
      switch (message.tag()) {
        case 1: graph.nodes.push_back(Node(message.get_message())); break;
        case 2: graph.name = TextOf(message); break;
        case 5: graph.initializers.push_back(Tensor(message)); break;
        case 11: graph.inputs.push_back(ValueInfo(message.get_message())); break;
        case 12: graph.outputs.push_back(ValueInfo(message.get_message())); break;
        case 15:
          graph.has_sparse = true;
          message.skip();
          break;
        default: message.skip();
      }
    }
    --level_;
    return graph;
  }

  FunctionProto Function(Field message) {
    Enter();
    FunctionProto function;
    while (message.next()) {
      switch (message.tag()) {
        case 1: function.name = TextOf(message); break;
        case 4: function.inputs.push_back(TextOf(message)); break;
        case 5: function.outputs.push_back(TextOf(message)); break;
        case 7: function.nodes.push_back(Node(message.get_message())); break;
        case 9: AddSet(message.get_message(), function.sets); break;
        case 10: function.domain = DomainOf(TextOf(message)); break;
        case 11: function.defaults.push_back(Attribute(message.get_message())); break;
        case 13: function.overload = TextOf(message); break;
        default: message.skip();
      }
    }
    return function;
  }

  NodeProto Node(Field message) {
    Enter();
    NodeProto node;
    while (message.next()) {
      switch (message.tag()) {
        case 1: node.inputs.push_back(TextOf(message)); break;
        case 2: node.outputs.push_back(TextOf(message)); break;
        case 3: node.name = TextOf(message); break;
        case 4: node.op_type = TextOf(message); break;
        case 5: node.attributes.push_back(Attribute(message.get_message())); break;
        case 7: node.domain = DomainOf(TextOf(message)); break;
        case 8: node.overload = TextOf(message); break;
        default: message.skip();
      }
    }
    return node;
  }

  AttributeProto Attribute(Field message) {
    Enter();
    AttributeProto made;
    while (message.next()) {
      switch (message.tag()) {
        case 1: made.name = TextOf(message); break;
        case 2: made.f = message.get_float(); break;
        case 3: made.i = message.get_int64(); break;
        case 4: made.s = TextOf(message); break;
        case 5: made.tensor = std::make_shared<TensorProto>(Tensor(message)); break;
        case 6: made.graph = std::make_shared<GraphProto>(Graph(message.get_message())); break;
        case 7: Append(message, made.floats, &Field::get_packed_float, &Field::get_float); break;
        case 8: Append(message, made.ints, &Field::get_packed_int64, &Field::get_int64); break;
        case 9: made.strings.push_back(TextOf(message)); break;
        case 20: made.type = message.get_int32(); break;
        case 21: made.reference = TextOf(message); break;
        default: message.skip();
      }
    }
    return made;
  }

  TensorProto Tensor(Field& field) {
    Enter();
    TensorProto tensor;
    tensor.message = TextOf(field);
    Field message(tensor.message.data(), tensor.message.size());
    while (message.next()) {
      switch (message.tag()) {
        case 1: Append(message, tensor.dims, &Field::get_packed_int64, &Field::get_int64); break;
        case 2: tensor.type = message.get_int32(); break;
        case 6: tensor.texts.push_back(TextOf(message)); break;
        case 8: tensor.name = TextOf(message); break;
        case 9:
          tensor.raw = TextOf(message);
          tensor.has_raw = true;
          break;
        case 13: tensor.external.push_back(Pair(message.get_message())); break;
        case 14: tensor.is_external = message.get_int32() == 1; break;
        default: message.skip();
      }
    }
    return tensor;
  }

  ValueInfoProto ValueInfo(Field message) {
    Enter();
    ValueInfoProto info;
    while (message.next()) {
      switch (message.tag()) {
        case 1: info.name = TextOf(message); break;
        case 2: Type(message.get_message(), info); break;
        default: message.skip();
      }
    }
    return info;
  }

  static void Type(Field message, ValueInfoProto& info) {
    while (message.next(1)) {  // not a sequence, map or optional
      info.is_tensor = true;
      Field tensor = message.get_message();
      while (tensor.next()) {
        switch (tensor.tag()) {
          case 1: info.type = tensor.get_int32(); break;
          case 2: info.dims = Dimensions(tensor.get_message()); break;
          default: tensor.skip();
        }
      }
    }
  }

  static std::vector<Dimension> Dimensions(Field message) {
    std::vector<Dimension> dims;
    while (message.next(1)) {
      Dimension dim;
      Field field = message.get_message();
      while (field.next()) {
        switch (field.tag()) {
          case 1: dim.size = field.get_int64(); break;
          case 2: dim.param = TextOf(field); break;
          default: field.skip();
        }
      }
      dims.push_back(dim);
    }
    return dims;
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
