#include "core/base/error.h"
#include "frontends/python/bindings.h"
#include "hearth/cache.h"

namespace py = pybind11;

namespace hearth {
namespace {

// The JSON text of what `ask` returns, which is called without the GIL.
template <typename Ask>
std::string Asked(const Cache& cache, Ask&& ask) {
  return Value(WithoutGil([&]() -> Result<std::string> {
    HEARTH_ASSIGN(const auto answer, ask());
    return CacheJson(answer, cache.folder());
  }));
}

// A function of a cache that asks it by `ask`.
template <typename Answer, typename... Arguments>
auto Asking(Answer (Cache::*ask)(Arguments...) const) {
  return [ask](const Cache& cache, Arguments... arguments) {
    return Asked(cache, [&] { return (cache.*ask)(arguments...); });
  };
}

std::string List(const Cache& cache) {
  return Asked(cache, [&] { return cache.List(); });
}

std::string Clear(const Cache& cache, const std::string& kind, const std::string& device,
                  const std::string& signed_by) {
  return Asked(cache, [&] {
    CacheFilter filter;
    filter.kind = kind;
    filter.device = device;
    filter.signed_by = signed_by;
    return cache.Clear(filter);
  });
}

void Pin(const Cache& cache, const std::string& model, bool is_pinned) {
  RaiseUnlessOk(WithoutGil([&] { return cache.Pin(model, is_pinned); }));
}

std::string Examine(const Cache& cache) {
  return Asked(cache, [&] { return Result<std::vector<CacheFinding>>(cache.Examine()); });
}

std::string Explain(const Cache& cache, const std::string& model_path, const OptionTexts& texts,
                    const InputShapes& shapes) {
  const SessionOptions options = SessionOptionsOf(texts, shapes);
  return Asked(cache, [&] { return cache.Explain(model_path, options); });
}

std::string Warm(const Cache& cache, const std::vector<std::string>& model_paths,
                 const std::vector<std::string>& devices, const OptionTexts& texts) {
  const SessionOptions options = SessionOptionsOf(texts, {});
  return Asked(cache, [&] { return cache.Warm(model_paths, devices, options); });
}

std::string WarmFromCache(const Cache& cache, const std::vector<std::string>& devices) {
  return Asked(cache, [&] { return cache.WarmFromCache(devices); });
}

std::string Inspect(const std::string& bundle, const std::string& trusted_keys) {
  return CacheJson(Value(WithoutGil([&] { return Cache::Inspect(bundle, trusted_keys); })));
}

std::string Export(const Cache& cache, const std::string& bundle, const std::string& sign_with, int64_t valid_for_ms,
                   const std::string& least_version) {
  return Asked(cache, [&] {
    const Cache::ExportOptions options = {{}, sign_with, valid_for_ms, least_version};
    return cache.Export(bundle, options);
  });
}

std::string Import(const Cache& cache, const std::string& bundle, const std::string& trusted_keys, bool is_trusted) {
  return Asked(cache, [&] {
    Cache::ImportOptions options;
    options.trusted_keys = trusted_keys;
    options.is_trusted = is_trusted;
    return cache.Import(bundle, options);
  });
}

std::string MakeSigningKey(const std::string& file) {
  return Value(WithoutGil([&] { return Cache::MakeSigningKey(file); }));
}

}  // namespace

void BindCaches(py::module_& module) {
  py::class_<Cache>(module, "Cache")
      .def(py::init([](const std::string& folder) { return Value(Cache::At(folder)); }))
      .def_property_readonly("folder", [](const Cache& cache) { return PathText(cache.folder()); })
      .def("list", &List)
      .def("stats", Asking(&Cache::Stats))
      .def("verify", Asking(&Cache::Verify))
      .def("prune", Asking(&Cache::Prune))
      .def("clear", &Clear)
      .def("lift_quarantine", Asking(&Cache::LiftQuarantine))
      .def("models", Asking(&Cache::Models))
      .def("pin", &Pin)
      .def("remove", Asking(&Cache::Remove))
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
