// Contexts, memory and fences that the program lends, and submitted runs.
#include <algorithm>

#include "frontends/c/answer.h"
#include "frontends/c/handles.h"
#include "hearth/interop.h"

namespace hearth {
namespace {

Status BindTensor(hearth_session* session, const std::vector<hearth_tensor>& tensors, size_t index,
                  const hearth_binding* binding, Status (Session::*bind)(std::string_view, const Binding&),
                  Status (Session::*unbind)(std::string_view)) {
  if (index >= tensors.size()) {
    return Error(StatusCode::kInvalidArgument, "there are {} tensors of this kind; there is no tensor {}",
                 tensors.size(), index);
  }
  const std::string& name = tensors[index].info->name;
  if (binding == nullptr) return ((*session->session).*unbind)(name);
  return ((*session->session).*bind)(name, binding->binding);
}

}  // namespace
}  // namespace hearth

hearth_status hearth_options_share_opencl(hearth_options* options, void* context, void* device, void* queue) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(options);
    HEARTH_NOT_NULL(context);
    HEARTH_NOT_NULL(device);
    options->options.shared = hearth::OpenClContext{context, device, queue};
    return hearth::Status::Ok();
  });
}

hearth_status hearth_options_share_vulkan(hearth_options* options, void* instance, void* physical_device, void* device,
                                          void* queue, uint32_t queue_family) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(options);
    HEARTH_NOT_NULL(instance);
    HEARTH_NOT_NULL(physical_device);
    HEARTH_NOT_NULL(device);
    HEARTH_NOT_NULL(queue);
    options->options.shared = hearth::VulkanContext{instance, physical_device, device, queue, queue_family};
    return hearth::Status::Ok();
  });
}

hearth_status hearth_options_share_gl(hearth_options* options, void* display, void* context) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(options);
    HEARTH_NOT_NULL(display);
    HEARTH_NOT_NULL(context);
    options->options.shared = hearth::GlContext{display, context};
    return hearth::Status::Ok();
  });
}

hearth_status hearth_sync_create(hearth_sync** out) {
  return hearth::AnswerWith(
      out, []() -> hearth::Result<std::unique_ptr<hearth_sync>> { return std::make_unique<hearth_sync>(); });
}

void hearth_sync_destroy(hearth_sync* sync) {
  delete sync;
}

hearth_status hearth_sync_wait_for(hearth_sync* sync, uint64_t handle, uint64_t value) {
  return hearth::AnswerOn(sync, "sync", [&] { sync->wait_for.push_back({handle, value}); });
}

hearth_status hearth_sync_signal(hearth_sync* sync, uint64_t handle, uint64_t value) {
  return hearth::AnswerOn(sync, "sync", [&] { sync->signal.push_back({handle, value}); });
}

hearth_status hearth_session_submit(hearth_session* session, const hearth_sync* sync, uint64_t* ticket,
                                    uint64_t* fence) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(session);
    HEARTH_NOT_NULL(ticket);
    hearth::SubmitOptions options;
    if (sync != nullptr) options = {sync->wait_for, sync->signal, false};
    options.make_fence = fence != nullptr;
    HEARTH_ASSIGN(const hearth::Ticket submitted, session->session->Submit(options));
    *ticket = submitted.number;
    if (fence != nullptr) *fence = submitted.fence;
    return hearth::Status::Ok();
  });
}

hearth_status hearth_session_wait(hearth_session* session, uint64_t ticket) {
  return hearth::AnswerOn(session, "session", [&]() -> hearth::Status {
    HEARTH_TRY(session->session->Wait({ticket, 0}));
    session->has_run = true;
    return hearth::Status::Ok();
  });
}

hearth_status hearth_binding_create(int32_t memory, uint64_t handle, uint64_t size_bytes, hearth_binding** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_binding>> {
    if (memory < HEARTH_MEMORY_HOST || memory > HEARTH_MEMORY_VULKAN_IMAGE)
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "there is no memory kind {}", memory);
    if (handle == 0) return hearth::Error(hearth::StatusCode::kInvalidArgument, "the memory's handle is 0");
    auto binding = std::make_unique<hearth_binding>();
    binding->binding.memory = static_cast<hearth::MemoryKind>(memory);
    binding->binding.handle = handle;
    binding->binding.size_bytes = size_bytes;
    return binding;
  });
}

void hearth_binding_destroy(hearth_binding* binding) {
  delete binding;
}

hearth_status hearth_binding_set_format(hearth_binding* binding, int32_t format) {
  return hearth::AnswerOn(binding, "binding", [&]() -> hearth::Status {
    if (format < HEARTH_FORMAT_FLOAT32 || format > HEARTH_FORMAT_RGBA16F)
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "there is no format {}", format);
    binding->binding.format = static_cast<hearth::ElementFormat>(format);
    return hearth::Status::Ok();
  });
}

hearth_status hearth_binding_set_layout(hearth_binding* binding, uint64_t offset_bytes, uint64_t row_pitch_bytes,
                                        int32_t flip_vertically) {
  return hearth::AnswerOn(binding, "binding", [&] {
    binding->binding.offset_bytes = offset_bytes;
    binding->binding.row_pitch_bytes = row_pitch_bytes;
    binding->binding.flip_vertically = flip_vertically != 0;
  });
}

hearth_status hearth_binding_set_scale(hearth_binding* binding, const float* scale, const float* offset) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(binding);
    HEARTH_NOT_NULL(scale);
    HEARTH_NOT_NULL(offset);
    std::copy_n(scale, 4, binding->binding.scale.begin());
    std::copy_n(offset, 4, binding->binding.offset.begin());
    return hearth::Status::Ok();
  });
}

hearth_status hearth_binding_set_image_layout(hearth_binding* binding, uint32_t layout) {
  return hearth::AnswerOn(binding, "binding", [&] { binding->binding.image_layout = layout; });
}

hearth_status hearth_session_bind_input(hearth_session* session, size_t index, const hearth_binding* binding) {
  return hearth::AnswerOn(session, "session", [&] {
    return hearth::BindTensor(session, session->inputs, index, binding, &hearth::Session::BindInput,
                              &hearth::Session::UnbindInput);
  });
}

hearth_status hearth_session_bind_output(hearth_session* session, size_t index, const hearth_binding* binding) {
  return hearth::AnswerOn(session, "session", [&] {
    return hearth::BindTensor(session, session->outputs, index, binding, &hearth::Session::BindOutput,
                              &hearth::Session::UnbindOutput);
  });
}
