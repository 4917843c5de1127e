#include "tests/testing/oracle_models.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "frontends/tflite/zip_entry.h"
#include "tests/testing/shared_data.h"

namespace hearth {

std::vector<OracleModel> ListOracleModels() {
  std::ifstream file(SourceFolder() / "tests/oracle/models.json");
  const nlohmann::json manifest = nlohmann::json::parse(file);
  std::vector<OracleModel> models;
  for (const nlohmann::json& row : manifest.at("models")) {
    models.push_back({row.at("file"), row.at("family"), row.at("op")});
  }
  return models;
}

OracleArchive::OracleArchive() {
  std::ifstream file(SourceFolder() / "tests/oracle/models.zip", std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), {});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(content));
  bytes_.assign(bytes.begin(), bytes.end());
}

Result<std::span<const std::byte>> OracleArchive::Find(const std::string& file) const {
  return ZipDirectory(bytes_).Find(file);
}

}  // namespace hearth
