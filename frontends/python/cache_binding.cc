#include "core/base/error.h"
#include "frontends/python/bindings.h"
#include "hearth/cache.h"

namespace py = pybind11;

namespace hearth {
namespace {

using Text = Result<std::string>;

// Calls `ask` without the GIL; it returns a JSON text.
template <typename Ask>
std::string Asked(Ask&& ask) {
  return Value(WithoutGil(ask));
}

std::string List(const Cache& cache) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto entries, cache.List());
    return CacheJson(entries, cache.folder());
  });
}

std::string Stats(const Cache& cache) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto stats, cache.Stats());
    return CacheJson(stats);
  });
}

std::string Verify(const Cache& cache, bool repair) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto verification, cache.Verify(repair));
    return CacheJson(verification, cache.folder());
  });
}

std::string Prune(const Cache& cache, uint64_t max_bytes) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto removed, cache.Prune(max_bytes));
    return CacheJson(removed, cache.folder());
  });
}

std::string Clear(const Cache& cache, const std::string& kind, const std::string& device,
                  const std::string& signed_by) {
  return Asked([&]() -> Text {
    CacheFilter filter;
    filter.kind = kind;
    filter.device = device;
    filter.signed_by = signed_by;
    HEARTH_ASSIGN(const auto removed, cache.Clear(filter));
    return CacheJson(removed, cache.folder());
  });
}

std::string LiftQuarantine(const Cache& cache) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const uint64_t count, cache.LiftQuarantine());
    return CacheJson(count, cache.folder());
  });
}

std::string Models(const Cache& cache) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto models, cache.Models());
    return CacheJson(models, cache.folder());
  });
}

void Pin(const Cache& cache, const std::string& model, bool is_pinned) {
  RaiseUnlessOk(WithoutGil([&] { return cache.Pin(model, is_pinned); }));
}

std::string Remove(const Cache& cache, const std::string& model) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto removed, cache.Remove(model));
    return CacheJson(removed, cache.folder());
  });
}

std::string Examine(const Cache& cache) {
  return Asked([&]() -> Text { return CacheJson(cache.Examine(), cache.folder()); });
}

std::string Explain(const Cache& cache, const std::string& model_path, const OptionTexts& texts,
                    const InputShapes& shapes) {
  const SessionOptions options = SessionOptionsOf(texts, shapes);
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto explanation, cache.Explain(model_path, options));
    return CacheJson(explanation, cache.folder());
  });
}

std::string Warm(const Cache& cache, const std::vector<std::string>& model_paths,
                 const std::vector<std::string>& devices, const OptionTexts& texts) {
  const SessionOptions options = SessionOptionsOf(texts, {});
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto results, cache.Warm(model_paths, devices, options));
    return CacheJson(results, cache.folder());
  });
}

std::string WarmFromCache(const Cache& cache, const std::vector<std::string>& devices) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto result, cache.WarmFromCache(devices));
    return CacheJson(result, cache.folder());
  });
}

std::string Inspect(const std::string& bundle, const std::string& trusted_keys) {
  return Asked([&]() -> Text {
    HEARTH_ASSIGN(const auto inspection, Cache::Inspect(bundle, trusted_keys));
    return CacheJson(inspection);
  });
}

std::string Export(const Cache& cache, const std::string& bundle, const std::string& sign_with, int64_t valid_for_ms,
                   const std::string& least_version) {
  return Asked([&]() -> Text {
    const Cache::ExportOptions options = {{}, sign_with, valid_for_ms, least_version};
    HEARTH_ASSIGN(const auto exported, cache.Export(bundle, options));
    return CacheJson(exported);
  });
}

std::string Import(const Cache& cache, const std::string& bundle, const std::string& trusted_keys, bool is_trusted) {
  return Asked([&]() -> Text {
    Cache::ImportOptions options;
    options.trusted_keys = trusted_keys;
    options.is_trusted = is_trusted;
    HEARTH_ASSIGN(const auto imported, cache.Import(bundle, options));
    return CacheJson(imported, cache.folder());
  });
}

std::string MakeSigningKey(const std::string& file) {
  return Asked([&]() -> Text { return Cache::MakeSigningKey(file); });
}

}  // namespace

void BindCaches(py::module_& module) {
  py::class_<Cache>(module, "Cache")
      .def(py::init([](const std::string& folder) { return Value(Cache::At(folder)); }))
      .def_property_readonly("folder", [](const Cache& cache) { return PathText(cache.folder()); })
      .def("list", &List)
      .def("stats", &Stats)
      .def("verify", &Verify)
      .def("prune", &Prune)
      .def("clear", &Clear)
      .def("lift_quarantine", &LiftQuarantine)
      .def("models", &Models)
      .def("pin", &Pin)
      .def("remove", &Remove)
      .def("examine", &Examine)
      .def("explain", &Explain)
      .def("warm", &Warm)
      .def("warm_from_cache", &WarmFromCache)
      .def_static("inspect", &Inspect)
      .def_static("make_signing_key", &MakeSigningKey)
      .def("export_to", &Export)
      .def("import_from", &Import);
}

}  // namespace hearth
