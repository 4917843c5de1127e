// The exported functions of libhearth_tflite_delegate.so: the plugin interface that the interpreter's load_delegate
// opens, and the functions of the reference's GPU delegate.
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "frontends/delegate/delegate.h"
#include "hearth/export.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

Result<DelegateOptions> Parse(const char* const* keys, const char* const* values, size_t count) {
  std::vector<std::pair<std::string_view, std::string_view>> options;
  for (size_t k = 0; k < count; ++k) {
    if (keys == nullptr || values == nullptr || keys[k] == nullptr || values[k] == nullptr) {
      return Error(StatusCode::kInvalidArgument, "option {} of {} has no name or no value", k, count);
    }
    options.emplace_back(keys[k], values[k]);
  }
  return ParseDelegateOptions(options);
}

}  // namespace
}  // namespace hearth

// NOLINTBEGIN(readability-identifier-naming): the interface's names
extern "C" {

// `report_error` may be null. Wrong options give null after an error was reported.
HEARTH_EXPORT hearth::tflite_c::TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                                                              const char* const* options_values,
                                                                              size_t num_options,
                                                                              void (*report_error)(const char*)) {
  hearth::tflite_c::TfLiteDelegate* made = nullptr;
  const hearth::Status status = hearth::Guarded([&]() -> hearth::Status {
    HEARTH_ASSIGN(hearth::DelegateOptions options, hearth::Parse(options_keys, options_values, num_options));
    made = hearth::Delegate::Create(std::move(options));
    return hearth::Status::Ok();
  });
  if (!status.ok() && report_error != nullptr) report_error(status.message().c_str());
  return made;
}

HEARTH_EXPORT void tflite_plugin_destroy_delegate(hearth::tflite_c::TfLiteDelegate* delegate) {
  hearth::Delegate::Delete(delegate);
}

HEARTH_EXPORT hearth::tflite_c::TfLiteGpuDelegateOptionsV2 TfLiteGpuDelegateOptionsV2Default() {
  return hearth::DefaultOptionsV2();
}

// `options` may be null, for the defaults. Applying the delegate reports wrong options.
HEARTH_EXPORT hearth::tflite_c::TfLiteDelegate* TfLiteGpuDelegateV2Create(
    const hearth::tflite_c::TfLiteGpuDelegateOptionsV2* options) {
  hearth::tflite_c::TfLiteDelegate* made = nullptr;
  const hearth::Status status = hearth::Guarded([&] {
    const auto parsed = hearth::DelegateOptionsOf(options == nullptr ? hearth::DefaultOptionsV2() : *options);
    hearth::DelegateOptions chosen = parsed.ok() ? parsed.value() : hearth::DelegateOptions();
    made = hearth::Delegate::Create(std::move(chosen), parsed.status());
    return hearth::Status::Ok();
  });
  static_cast<void>(status);  // null reports it
  return made;
}

HEARTH_EXPORT void TfLiteGpuDelegateV2Delete(hearth::tflite_c::TfLiteDelegate* delegate) {
  hearth::Delegate::Delete(delegate);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
