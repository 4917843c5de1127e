#include "hearth/session.h"

#include <algorithm>

#include "frontends/c/answer.h"
#include "frontends/c/handles.h"

namespace hearth {
namespace {

constexpr std::byte kNoElements{};

SessionOptions SessionOptionsOf(const hearth_options* options) {
  return options == nullptr ? SessionOptions() : options->options;
}

// `open` opens the C++ session.
template <typename Open>
Result<std::unique_ptr<hearth_session>> HandleOf(hearth_model* model, Open&& open) {
  auto handle = std::make_unique<hearth_session>(model);
  HEARTH_ASSIGN(Session session, open());
  handle->session.emplace(std::move(session));
  handle->inputs = TensorsOf(handle->session->inputs());
  handle->outputs = TensorsOf(handle->session->outputs());
  return handle;
}

// Updates the tensors in place: the caller may have pointers to them.
void NoteNewShapes(hearth_session& session) {
  const auto renew = [](std::vector<hearth_tensor>& tensors, const std::vector<TensorInfo>& infos) {
    for (size_t k = 0; k < tensors.size(); ++k) tensors[k].info = &infos[k];
  };
  renew(session.inputs, session.session->inputs());
  renew(session.outputs, session.session->outputs());
  session.has_run = false;
}

// The caller's memory of all `tensors`, which are called `kind`.
template <typename Byte, typename Pointer>
Result<std::vector<std::span<Byte>>> SpansOf(const std::vector<hearth_tensor>& tensors, const char* kind,
                                             Pointer const* data, const size_t* size_bytes, size_t count) {
  if (count != tensors.size()) {
    return Error(StatusCode::kInvalidArgument, "memory of {} {}s was given, the model has {}", count, kind,
                 tensors.size());
  }
  if (count > 0 && (data == nullptr || size_bytes == nullptr)) return NullArgument(kind);
  std::vector<std::span<Byte>> spans;
  for (size_t k = 0; k < count; ++k) {
    if (data[k] == nullptr && size_bytes[k] > 0)
      return Error(StatusCode::kInvalidArgument, "the memory of {} '{}' is a null pointer", kind,
                   tensors[k].info->name);
    spans.emplace_back(static_cast<Byte*>(data[k]), size_bytes[k]);
  }
  return spans;
}

int64_t IndexOf(const std::vector<hearth_tensor>& tensors, const char* name) {
  if (name == nullptr || *name == '\0') return -1;
  const auto found = std::ranges::find_if(
      tensors, [&](const hearth_tensor& tensor) { return tensor.info->name == name || tensor.info->alias == name; });
  return found == tensors.end() ? -1 : found - tensors.begin();
}

}  // namespace
}  // namespace hearth

hearth_status hearth_session_open(const char* path, const hearth_options* options, hearth_session** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_session>> {
    HEARTH_NOT_NULL(path);
    return hearth::HandleOf(nullptr, [&] { return hearth::Session::Open(path, hearth::SessionOptionsOf(options)); });
  });
}

hearth_status hearth_session_create(hearth_model* model, const hearth_options* options, hearth_session** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_session>> {
    HEARTH_NOT_NULL(model);
    return hearth::HandleOf(model,
                            [&] { return hearth::Session::Create(model->model, hearth::SessionOptionsOf(options)); });
  });
}

hearth_status hearth_session_clone(hearth_session* session, hearth_session** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_session>> {
    HEARTH_NOT_NULL(session);
    return hearth::HandleOf(session->model, [&] { return session->session->Clone(); });
  });
}

hearth_status hearth_session_resize(hearth_session* session, const hearth_options* shapes) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(session);
    HEARTH_NOT_NULL(shapes);
    HEARTH_TRY(session->session->Resize(shapes->options.model.input_shapes));
    hearth::NoteNewShapes(*session);
    return hearth::Status::Ok();
  });
}

hearth_status hearth_session_resize_batch(hearth_session* session, int32_t batch) {
  return hearth::AnswerOn(session, "session", [&]() -> hearth::Status {
    HEARTH_TRY(session->session->ResizeBatch(batch));
    hearth::NoteNewShapes(*session);
    return hearth::Status::Ok();
  });
}

void hearth_session_destroy(hearth_session* session) {
  hearth::Answer([&] {
    delete session;
    return hearth::Status::Ok();
  });
}

size_t hearth_session_input_count(const hearth_session* session) {
  return session == nullptr ? 0 : session->inputs.size();
}

size_t hearth_session_output_count(const hearth_session* session) {
  return session == nullptr ? 0 : session->outputs.size();
}

const hearth_tensor* hearth_session_input(const hearth_session* session, size_t index) {
  return index < hearth_session_input_count(session) ? &session->inputs[index] : nullptr;
}

const hearth_tensor* hearth_session_output(const hearth_session* session, size_t index) {
  return index < hearth_session_output_count(session) ? &session->outputs[index] : nullptr;
}

int64_t hearth_session_find_input(const hearth_session* session, const char* name) {
  return session == nullptr ? -1 : hearth::IndexOf(session->inputs, name);
}

int64_t hearth_session_find_output(const hearth_session* session, const char* name) {
  return session == nullptr ? -1 : hearth::IndexOf(session->outputs, name);
}

hearth_status hearth_session_set_input(hearth_session* session, size_t index, const void* data, size_t size_bytes) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(session);
    if (size_bytes > 0) HEARTH_NOT_NULL(data);
    return session->session->SetInput(index, std::span(static_cast<const std::byte*>(data), size_bytes));
  });
}

hearth_status hearth_session_run(hearth_session* session) {
  return hearth::AnswerOn(session, "session", [&]() -> hearth::Status {
    HEARTH_TRY(session->session->Run());
    session->has_run = true;
    return hearth::Status::Ok();
  });
}

hearth_status hearth_session_run_on(hearth_session* session, const void* const* inputs, const size_t* input_bytes,
                                    size_t input_count, void* const* outputs, const size_t* output_bytes,
                                    size_t output_count) {
  return hearth::AnswerOn(session, "session", [&]() -> hearth::Status {
    using hearth::SpansOf;
    HEARTH_ASSIGN(const auto read,
                  SpansOf<const std::byte>(session->inputs, "input", inputs, input_bytes, input_count));
    HEARTH_ASSIGN(const auto written,
                  SpansOf<std::byte>(session->outputs, "output", outputs, output_bytes, output_count));
    return session->session->Run(read, written);
  });
}

const void* hearth_session_output_data(const hearth_session* session, size_t index, size_t* size_bytes) {
  if (size_bytes != nullptr) *size_bytes = 0;
  const void* data = nullptr;
  hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(session);
    if (index >= session->outputs.size()) {
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "the model has {} outputs; there is no output {}",
                           session->outputs.size(), index);
    }
    if (!session->has_run) {
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "the session has not run yet: there is no output");
    }
    const std::span<const std::byte> bytes = session->session->output(index);
    if (size_bytes != nullptr) *size_bytes = bytes.size();
    data = bytes.empty() ? &hearth::kNoElements : bytes.data();  // null would mean that there is no output
    return hearth::Status::Ok();
  });
  return data;
}

hearth_status hearth_session_wait_for_device(hearth_session* session) {
  return hearth::AnswerOn(session, "session", [&] { return session->session->WaitForDevice(); });
}

hearth_status hearth_session_reset_state(hearth_session* session) {
  return hearth::AnswerOn(session, "session", [&] { return session->session->ResetState(); });
}

hearth_status hearth_session_save_to_cache(hearth_session* session) {
  return hearth::AnswerOn(session, "session", [&] { session->session->SaveToCache(); });
}

hearth_status hearth_session_report_json(const hearth_session* session, char** json) {
  return hearth::AnswerWithText(json, [&]() -> hearth::Result<std::string> {
    HEARTH_NOT_NULL(session);
    return session->session->report().ToJson();
  });
}

hearth_status hearth_session_run_profiled(hearth_session* session, hearth_profile** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_profile>> {
    HEARTH_NOT_NULL(session);
    HEARTH_ASSIGN(std::vector<hearth::ProfileEntry> entries, session->session->RunProfiled());
    session->has_run = true;
    return std::make_unique<hearth_profile>(hearth_profile{std::move(entries)});
  });
}

void hearth_profile_destroy(hearth_profile* profile) {
  delete profile;
}

size_t hearth_profile_count(const hearth_profile* profile) {
  return profile == nullptr ? 0 : profile->entries.size();
}

const char* hearth_profile_node(const hearth_profile* profile, size_t index) {
  return index < hearth_profile_count(profile) ? profile->entries[index].node.c_str() : nullptr;
}

const char* hearth_profile_kernel(const hearth_profile* profile, size_t index) {
  return index < hearth_profile_count(profile) ? profile->entries[index].kernel.c_str() : nullptr;
}

double hearth_profile_milliseconds(const hearth_profile* profile, size_t index) {
  return index < hearth_profile_count(profile) ? profile->entries[index].milliseconds : 0;
}
