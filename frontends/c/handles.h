// The contents of hearth/hearth_c.h's opaque handles.
#ifndef HEARTH_FRONTENDS_C_HANDLES_H_
#define HEARTH_FRONTENDS_C_HANDLES_H_

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/cache.h"
#include "hearth/device.h"
#include "hearth/graph_builder.h"
#include "hearth/hearth_c.h"
#include "hearth/model.h"
#include "hearth/results.h"
#include "hearth/session.h"

// NOLINTBEGIN(readability-identifier-naming): the names of the C interface

struct hearth_devices {
  std::vector<hearth::DeviceDescription> list;
};

struct hearth_options {
  hearth::SessionOptions options;
};

struct hearth_tensor {
  const hearth::TensorInfo* info = nullptr;
};

struct hearth_model {
  explicit hearth_model(hearth::Model made) : model(std::move(made)) {}
  hearth::Model model;
  std::vector<hearth_tensor> inputs, outputs;
  // The caller's handle counts one, and each session one: the model lives until the last is destroyed.
  mutable std::atomic<int> users = 1;
};

// Members are destroyed last to first: the session before its hold on the model.
struct hearth_session {
  explicit hearth_session(hearth_model* of_model) : model(of_model) {
    if (model != nullptr) ++model->users;
  }
  hearth_session(const hearth_session&) = delete;
  ~hearth_session() {
    session.reset();
    hearth_model_destroy(model);
  }
  hearth_model* model;
  std::optional<hearth::Session> session;
  std::vector<hearth_tensor> inputs, outputs;
  bool has_run = false;
};

struct hearth_sync {
  std::vector<hearth::SyncPoint> wait_for, signal;
};

struct hearth_binding {
  hearth::Binding binding;
};

struct hearth_frame {
  hearth::Frame frame;
};

struct hearth_profile {
  std::vector<hearth::ProfileEntry> entries;
};

struct hearth_results {
  struct Item {
    int64_t class_index = -1;
    std::string label;
    float score = 0;
    std::vector<float> place;
  };
  struct Of {
    std::string meaning, reason;
    size_t output = 0;
    std::vector<Item> items;
    hearth::PixelMap map;
  };
  std::vector<Of> list;
};

struct hearth_graph {
  std::optional<hearth::GraphBuilder> builder;  // none once it was built
  hearth::Status first_mistake;                 // of arguments that the builder does not take
  bool lacks_tensors = false;                   // memory ran out while a tensor was added
};

struct hearth_cache {
  hearth::Cache cache;
};

// NOLINTEND(readability-identifier-naming)

namespace hearth {

inline std::vector<hearth_tensor> TensorsOf(const std::vector<TensorInfo>& infos) {
  std::vector<hearth_tensor> tensors;
  tensors.reserve(infos.size());
  for (const TensorInfo& info : infos) tensors.push_back({&info});
  return tensors;
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_C_HANDLES_H_
