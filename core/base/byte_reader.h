// Reads and writes numbers and bytes in sequence, for containers that outlive a process.
#ifndef HEARTH_CORE_BASE_BYTE_READER_H_
#define HEARTH_CORE_BASE_BYTE_READER_H_

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth {

// The least significant byte first, on every machine.
template <typename Bytes, std::unsigned_integral T>
void AppendNumber(Bytes& bytes, T number) {
  for (size_t k = 0; k < sizeof number; ++k)
    bytes.push_back(static_cast<typename Bytes::value_type>(number >> (8 * k)));
}

// Reads numbers and bytes from untrusted input. Once too little is left, `failed` is true, numbers are 0 and bytes are
// empty. The input must outlive the reader and the spans that it returns.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> Bytes(uint64_t count) {
    if (failed_ || count > rest_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = rest_.first(static_cast<size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  // As AppendNumber writes it.
  template <std::unsigned_integral T>
  T Number() {
    T number = 0;
    const std::span<const std::byte> bytes = Bytes(sizeof number);
    for (size_t k = 0; k < bytes.size(); ++k) number |= static_cast<T>(std::to_integer<T>(bytes[k]) << (8 * k));
    return number;
  }
  double Double() { return std::bit_cast<double>(Number<uint64_t>()); }

  // For what else makes the input unreadable.
  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_BYTE_READER_H_
