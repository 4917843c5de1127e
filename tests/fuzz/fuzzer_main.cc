#include <cstdint>

#include "tests/fuzz/fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hearth::FuzzOne(std::as_bytes(std::span(data, size)));
  return 0;
}
