// The reports about the models of a store.
#include "cache/desk/report_access.h"
#include "cache/desk/reports.h"
#include "cache/store/last_misses.h"
#include "cache/store/models.h"
#include "core/base/error.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Result<CacheModel> ReadModel(Database& database, std::string_view model) {
  HEARTH_ASSIGN(const int64_t id, FindModel(database, model));
  HEARTH_ASSIGN(const std::vector<CacheModel> models, ReadModels(database, id));
  if (models.empty()) return Error(StatusCode::kNotFound, "the cache has just forgotten '{}'", model);
  return models.front();
}

}  // namespace

Result<std::vector<CacheModel>> ListModels(const fs::path& folder) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return std::vector<CacheModel>();
  return OfStore(store, ReadModels(*store.database));
}

Result<std::vector<ModelUses>> ListUses(const fs::path& folder) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return std::vector<ModelUses>();
  return OfStore(store, ReadUses(*store.database));
}

Result<std::vector<CacheMiss>> ListLastMisses(const fs::path& folder) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return std::vector<CacheMiss>();
  return OfStore(store, ReadLastMisses(*store.database));
}

Result<CacheModel> DescribeModel(const fs::path& folder, std::string_view model) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
  return AsDamageOfStore(ReadModel(*store.database, model));
}

Status SetPinned(const fs::path& folder, std::string_view model, bool is_pinned) {
  return ChangeStore(folder, [&](ReportedStore& store) -> Status {
    if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
    HEARTH_TRY(CheckMayChange(store));
    HEARTH_ASSIGN(const int64_t id, FindModel(*store.database, model));
    return PinModel(*store.database, id, is_pinned);
  });
}

}  // namespace hearth
