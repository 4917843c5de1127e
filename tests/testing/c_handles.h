// Shared code of C interface tests: handles that free themselves, and a small model with state.
#ifndef HEARTH_TESTS_TESTING_C_HANDLES_H_
#define HEARTH_TESTS_TESTING_C_HANDLES_H_

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "hearth/hearth_c.h"

namespace hearth {

// A handle that frees itself. `out()` is for functions that make one.
template <typename T, void (*Destroy)(T*)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  ~Owned() { Destroy(handle_); }
  T** out() {
    Destroy(handle_);
    handle_ = nullptr;
    return &handle_;
  }
  operator T*() const { return handle_; }  // NOLINT(google-explicit-constructor)

 private:
  T* handle_ = nullptr;
};
using OwnedOptions = Owned<hearth_options, hearth_options_destroy>;
using OwnedModel = Owned<hearth_model, hearth_model_destroy>;
using OwnedSession = Owned<hearth_session, hearth_session_destroy>;
using OwnedGraph = Owned<hearth_graph, hearth_graph_destroy>;
using OwnedProfile = Owned<hearth_profile, hearth_profile_destroy>;
using OwnedDevices = Owned<hearth_devices, hearth_devices_destroy>;
using OwnedCache = Owned<hearth_cache, hearth_cache_destroy>;
using OwnedBinding = Owned<hearth_binding, hearth_binding_destroy>;
using OwnedFrame = Owned<hearth_frame, hearth_frame_destroy>;
using OwnedSync = Owned<hearth_sync, hearth_sync_destroy>;
using OwnedText = Owned<char, hearth_free_text>;

#define EXPECT_FINE(call) EXPECT_EQ(call, HEARTH_OK) << hearth_last_error()
#define ASSERT_FINE(call) ASSERT_EQ(call, HEARTH_OK) << hearth_last_error()

// Sets the CPU, without a cache.
inline void SetCpu(OwnedOptions& options) {
  ASSERT_FINE(hearth_options_create(options.out()));
  ASSERT_FINE(hearth_options_set(options, "device", "cpu"));
  ASSERT_FINE(hearth_options_set(options, "cache", "off"));
}

inline std::vector<float> OutputFloats(const hearth_session* session, size_t output) {
  size_t size_bytes = 0;
  const void* data = hearth_session_output_data(session, output, &size_bytes);
  std::vector<float> values(size_bytes / sizeof(float));
  if (data != nullptr) std::memcpy(values.data(), data, size_bytes);
  return values;
}

// y = -(x + sum of all earlier x), 1x4.
inline void MakeNegatedSum(OwnedModel& model) {
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("sum", graph.out()));
  const int32_t shape[] = {1, 4};
  const int32_t x = hearth_graph_input(graph, "x", shape, 2);
  const int32_t memory = hearth_graph_state(graph, "memory", shape, 2);
  const int32_t sum = hearth_graph_binary(graph, "add", x, memory, HEARTH_ACTIVATION_NONE);
  hearth_graph_update(graph, memory, sum);
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", sum), "y");
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
}

// A session of it on the CPU, without a cache. The session keeps the model.
inline void OpenNegatedSum(OwnedSession& session) {
  OwnedModel model;
  MakeNegatedSum(model);
  OwnedOptions options;
  SetCpu(options);
  ASSERT_FINE(hearth_session_create(model, options, session.out()));
}

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_C_HANDLES_H_
