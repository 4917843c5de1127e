// The delegate plugin, loaded like the interpreter loads it, and a network for it in an interpreter of our own.
#ifndef HEARTH_TESTS_FAULT_PLUGIN_NETWORK_H_
#define HEARTH_TESTS_FAULT_PLUGIN_NETWORK_H_

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/mock_interpreter.h"

namespace hearth::testing {

inline constexpr int32_t kConcatEmbeddings = 29;  // Hearth does not know it

// As the interpreter's TfLiteConvParams.
struct ConvParams {
  int32_t padding, stride_width, stride_height, activation, dilation_width, dilation_height, quantized_bias_type;
};

// The library, opened and closed.
class Plugin {
 public:
  Plugin() : library_(dlopen(HEARTH_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
    Find("tflite_plugin_create_delegate", create);
    Find("tflite_plugin_destroy_delegate", destroy);
    Find("TfLiteGpuDelegateOptionsV2Default", default_options);
    Find("TfLiteGpuDelegateV2Create", create_v2);
    Find("TfLiteGpuDelegateV2Delete", delete_v2);
  }
  ~Plugin() { dlclose(library_); }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // On the CPU device.
  tflite_c::TfLiteDelegate* CreateOnCpu(std::vector<std::pair<std::string, std::string>> options = {}) const {
    options.emplace_back("device", "cpu");
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    return create(keys.data(), values.data(), keys.size(), nullptr);
  }

  tflite_c::TfLiteDelegate* (*create)(const char* const*, const char* const*, size_t, void (*)(const char*)) = nullptr;
  void (*destroy)(tflite_c::TfLiteDelegate*) = nullptr;
  tflite_c::TfLiteGpuDelegateOptionsV2 (*default_options)() = nullptr;
  tflite_c::TfLiteDelegate* (*create_v2)(const tflite_c::TfLiteGpuDelegateOptionsV2*) = nullptr;
  void (*delete_v2)(tflite_c::TfLiteDelegate*) = nullptr;

 private:
  template <typename Function>
  void Find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    EXPECT_NE(function, nullptr) << name;
  }

  void* library_;
};

// x -> pointwise convolution (2 x + 1 in both channels) -> relu -> [what Hearth does not know: negation] -> add -> y.
struct Network {
  explicit Network(MockInterpreter& host, bool has_unknown = false) : host(host) {
    const std::vector<int> dims = {1, 2, 2, 2};
    x = host.AddTensor(dims);
    filter = host.AddConstant({2, 1, 1, 2}, {2, 0, 0, 2});
    bias = host.AddConstant({2}, {1, 1});
    scaled = host.AddTensor(dims);
    const int positive = host.AddTensor(dims);
    negated = host.AddTensor(dims);
    y = host.AddTensor(dims);
    conv = host.AddNodeWith(kConv2D, {x, filter, bias}, {scaled}, ConvParams{1, 1, 1, 0, 1, 1, 0});
    host.AddNode(kRelu, {scaled}, {positive});
    if (has_unknown) {
      const int node = host.AddNode(kConcatEmbeddings, {positive}, {negated});
      host.RunHere(node, [&host, positive, negated = negated] {
        for (size_t k = 0; k < host.floats(positive).size(); ++k) host.floats(negated)[k] = -host.floats(positive)[k];
      });
    }
    add = host.AddNodeWith(kAdd, {positive, has_unknown ? negated : positive}, {y}, std::array<int32_t, 2>{0, 1});
    unknown = has_unknown;
    host.SetOutputs({y});
  }

  void ExpectItWorks() const {
    std::vector<float> expected;
    for (size_t k = 0; k < host.floats(x).size(); ++k) {
      host.floats(x)[k] = static_cast<float>(k) - 3;
      expected.push_back(unknown ? 0 : 2 * std::max(0.0f, 2 * host.floats(x)[k] + 1));
    }
    ASSERT_EQ(host.Invoke(), tflite_c::kTfLiteOk) << host.messages();
    EXPECT_THAT(host.floats(y), ::testing::Pointwise(::testing::FloatNear(1e-5f), expected));
  }

  MockInterpreter& host;
  int x, filter, bias, scaled, negated, y, conv, add;
  bool unknown;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_FAULT_PLUGIN_NETWORK_H_
