#include "tools/hearth/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  // of the data, as NumPy writes it

struct ElementType {
  std::string_view dtype, descr;
  size_t size_bytes;
};
constexpr std::array<ElementType, 12> kElementTypes = {{{"float64", "<f8", 8},
                                                        {"float32", "<f4", 4},
                                                        {"float16", "<f2", 2},
                                                        {"int32", "<i4", 4},
                                                        {"int64", "<i8", 8},
                                                        {"int16", "<i2", 2},
                                                        {"uint64", "<u8", 8},
                                                        {"uint32", "<u4", 4},
                                                        {"uint16", "<u2", 2},
                                                        {"uint8", "|u1", 1},
                                                        {"int8", "|i1", 1},
                                                        {"bool", "|b1", 1}}};

// The text after `'key':` in the header, which is a Python dictionary.
std::optional<std::string_view> ValueOf(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}'", key);
  size_t at = header.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  at = header.find_first_not_of(" ", at + quoted.size());
  if (at == std::string_view::npos || header[at] != ':') return std::nullopt;
  at = header.find_first_not_of(" ", at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  return header.substr(at);
}

Result<std::vector<int64_t>> ParseShape(std::string_view text) {
  const auto malformed = [] {
    return Error(StatusCode::kMalformedInput, "not a .npy file: its header has no readable 'shape'");
  };
  const size_t end = text.find(')');
  if (text.empty() || text.front() != '(' || end == std::string_view::npos) return malformed();
  text = text.substr(1, end - 1);
  std::vector<int64_t> shape;
  while (text.find_first_not_of(' ') != std::string_view::npos) {
    text.remove_prefix(text.find_first_not_of(' '));
    int64_t size = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
    if (parsed.ec != std::errc() || size < 0) return malformed();
    shape.push_back(size);
    text.remove_prefix(parsed.ptr - text.data());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) break;
    if (text.front() != ',') return malformed();
    text.remove_prefix(1);
  }
  return shape;
}

Result<ElementType> ParseElementType(std::string_view text) {
  const size_t end = text.size() < 2 ? std::string_view::npos : text.find(text.front(), 1);
  if (end == std::string_view::npos || text.front() != '\'') {
    return Error(StatusCode::kUnsupported, "the array has no plain element type; save it as one of the model's type");
  }
  const std::string_view descr = text.substr(1, end - 1);
  for (const ElementType& type : kElementTypes) {
    if (type.descr == descr) return type;
  }
  return Error(StatusCode::kUnsupported,
               "element type '{}' can't be read; save the array little-endian in the model's type", descr);
}

// The header's text and the offset of the data.
struct Header {
  std::string_view text;
  size_t data_offset = 0;
};

Result<Header> FindHeader(std::string_view file) {
  if (file.size() < 10 || file.substr(0, kMagic.size()) != kMagic) {
    return Error(StatusCode::kMalformedInput, "not a .npy file: it does not begin with NumPy's magic bytes");
  }
  const auto byte_at = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(file[at])); };
  const size_t version = byte_at(6);
  if (version < 1 || version > 3) return Error(StatusCode::kUnsupported, ".npy version {} is not known", version);
  size_t size = byte_at(8) | byte_at(9) << 8;
  size_t offset = 10;
  if (version >= 2) {
    if (file.size() < 12) return Error(StatusCode::kMalformedInput, "not a .npy file: it ends in its header");
    size |= byte_at(10) << 16 | byte_at(11) << 24;
    offset = 12;
  }
  if (size > file.size() - offset) return Error(StatusCode::kMalformedInput, "not a .npy file: it ends in its header");
  return Header{file.substr(offset, size), offset + size};
}

// Reorders elements whose first index changes fastest.
std::vector<std::byte> InCOrder(std::span<const std::byte> fortran, size_t element_bytes,
                                std::span<const int64_t> shape) {
  std::vector<std::byte> dense(fortran.size());
  std::vector<size_t> strides(shape.size()), index(shape.size());
  size_t stride = element_bytes;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(shape[d]);
  }
  size_t from = 0;
  for (size_t to = 0; to < dense.size(); to += element_bytes) {
    std::copy_n(fortran.begin() + static_cast<std::ptrdiff_t>(from), element_bytes,
                dense.begin() + static_cast<std::ptrdiff_t>(to));
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < static_cast<size_t>(shape[d])) break;
      from -= strides[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return dense;
}

}  // namespace

Result<NpyArray> ParseNpy(std::span<const std::byte> file) {
  HEARTH_ASSIGN(const Header header, FindHeader(TextFrom(file)));
  const auto descr = ValueOf(header.text, "descr");
  const auto fortran_order = ValueOf(header.text, "fortran_order");
  const auto shape_text = ValueOf(header.text, "shape");
  if (!descr || !fortran_order || !shape_text) {
    return Error(StatusCode::kMalformedInput, "not a .npy file: its header lacks 'descr', 'fortran_order' or 'shape'");
  }
  HEARTH_ASSIGN(const ElementType type, ParseElementType(*descr));
  NpyArray array;
  array.dtype = type.dtype;
  HEARTH_ASSIGN(array.shape, ParseShape(*shape_text));
  const auto data = file.subspan(header.data_offset);
  size_t size_bytes = type.size_bytes;
  for (int64_t dimension : array.shape) {
    if (__builtin_mul_overflow(size_bytes, static_cast<size_t>(dimension), &size_bytes)) {
      return Error(StatusCode::kMalformedInput, "not a .npy file: its shape is too large");
    }
  }
  if (size_bytes != data.size()) {
    return Error(StatusCode::kMalformedInput, "its shape needs {} bytes of data, it holds {}", size_bytes, data.size());
  }
  array.bytes.assign(data.begin(), data.end());
  if (!fortran_order->starts_with("False")) array.bytes = InCOrder(data, type.size_bytes, array.shape);
  return array;
}

Result<std::string> FormatNpy(std::string_view dtype, std::span<const int32_t> shape,
                              std::span<const std::byte> bytes) {
  const auto type =
      std::find_if(kElementTypes.begin(), kElementTypes.end(), [&](const ElementType& t) { return t.dtype == dtype; });
  if (type == kElementTypes.end()) return Error(StatusCode::kUnsupported, "NumPy has no element type for {}", dtype);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type->descr,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  return file.append(TextFrom(bytes));
}

}  // namespace hearth
