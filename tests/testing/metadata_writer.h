// Small TFLite files with metadata and label files, well-formed or deliberately malformed.
#ifndef HEARTH_TESTS_TESTING_METADATA_WRITER_H_
#define HEARTH_TESTS_TESTING_METADATA_WRITER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hearth {

struct WrittenMetadata {
  std::vector<float> mean = {127.5f}, std = {127.5f};  // of the input; both empty: none
  std::string label_file = "labels.txt";               // of the output's last dimension; empty: none
  std::string input_name = "picture";
  // How often the same table is listed.
  size_t described_inputs = 1, described_outputs = 1, scalings = 1, label_files = 1;
};

// The metadata's flatbuffer.
std::vector<std::byte> MetadataBytes(const WrittenMetadata& metadata);

// A model float32[1,4] -> float32[1,4] with this metadata. Lists its input and its output so many times.
std::vector<std::byte> ModelWithMetadata(const std::vector<std::byte>& metadata, size_t inputs = 1, size_t outputs = 1);

// The file followed by an archive of the (name, contents) pairs. `method` 0: stored.
std::vector<std::byte> WithArchive(std::vector<std::byte> file,
                                   const std::vector<std::pair<std::string, std::string>>& entries, int method = 0);

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_METADATA_WRITER_H_
