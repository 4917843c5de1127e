#include "frontends/api/custom_ops.h"
#include "frontends/c/answer.h"
#include "frontends/c/handles.h"
#include "hearth/session_option.h"

hearth_status hearth_options_create(hearth_options** out) {
  return hearth::AnswerWith(
      out, []() -> hearth::Result<std::unique_ptr<hearth_options>> { return std::make_unique<hearth_options>(); });
}

void hearth_options_destroy(hearth_options* options) {
  delete options;
}

hearth_status hearth_options_set(hearth_options* options, const char* name, const char* value) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(options);
    HEARTH_NOT_NULL(name);
    HEARTH_NOT_NULL(value);
    return hearth::SetSessionOption(options->options, name, value);
  });
}

hearth_status hearth_options_set_shape(hearth_options* options, const char* input, const int32_t* dimensions,
                                       size_t rank) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(options);
    HEARTH_NOT_NULL(input);
    HEARTH_ASSIGN(options->options.model.input_shapes[input], hearth::DimensionsOf(dimensions, rank));
    return hearth::Status::Ok();
  });
}

hearth_status hearth_options_set_constant(hearth_options* options, const char* input, const char* dtype,
                                          const int32_t* dimensions, size_t rank, const void* data, size_t size_bytes) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(options);
    HEARTH_NOT_NULL(input);
    HEARTH_NOT_NULL(dtype);
    HEARTH_NOT_NULL(data);
    hearth::FixedInput fixed{dtype, {}, {}};
    HEARTH_ASSIGN(fixed.shape, hearth::DimensionsOf(dimensions, rank));
    const auto* bytes = static_cast<const std::byte*>(data);
    fixed.bytes.assign(bytes, bytes + size_bytes);
    options->options.model.constants[input] = std::move(fixed);
    return hearth::Status::Ok();
  });
}

hearth_status hearth_options_add_op(hearth_options* options, const hearth_op* op) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(options);
    HEARTH_NOT_NULL(op);
    // What could run out of memory comes first: after an error `destroy` is not called.
    options->options.model.custom_ops.reserve(options->options.model.custom_ops.size() + 1);
    HEARTH_ASSIGN(hearth::CustomOp registered, hearth::CustomOpOf(*op, nullptr));
    options->options.model.custom_ops.push_back(std::move(registered));
    return hearth::Status::Ok();
  });
}
