#include "backends/gles/module.h"

#include "backends/gles/devices.h"

extern "C" __attribute__((visibility("default"))) const hearth::gles::Module* hearth_gles_module() {
  static const hearth::gles::Module module = {.sources = hearth::kGlesModuleSources,
                                              .enumerate = [] { return hearth::gles::Enumerate(); },
                                              .open = hearth::gles::Open,
                                              .open_shared = hearth::gles::OpenShared};
  return &module;
}
