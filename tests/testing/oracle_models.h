// The single-operator models of tests/oracle: models.zip and its manifest, models.json.
#ifndef HEARTH_TESTS_TESTING_ORACLE_MODELS_H_
#define HEARTH_TESTS_TESTING_ORACLE_MODELS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearth/status.h"

namespace hearth {

struct OracleModel {
  std::string file, family;
  std::string op;  // the tested operator
};

// The models in the manifest, by file.
std::vector<OracleModel> ListOracleModels();

class OracleArchive {
 public:
  OracleArchive();

  // A model's content, valid as long as this object. Errors: as ZipDirectory::Find.
  Result<std::span<const std::byte>> Find(const std::string& file) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_ORACLE_MODELS_H_
