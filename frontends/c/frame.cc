// Pictures as inputs.
#include "hearth/frame.h"

#include <algorithm>

#include "frontends/c/answer.h"
#include "frontends/c/handles.h"

hearth_status hearth_frame_create(int32_t format, int32_t width, int32_t height, hearth_frame** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_frame>> {
    if (format < HEARTH_PIXELS_RGBA8 || format > HEARTH_PIXELS_I420)
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "there is no pixel format {}", format);
    auto frame = std::make_unique<hearth_frame>();
    frame->frame.format = static_cast<hearth::PixelFormat>(format);
    frame->frame.width = width;
    frame->frame.height = height;
    return frame;
  });
}

void hearth_frame_destroy(hearth_frame* frame) {
  delete frame;
}

hearth_status hearth_frame_set_memory(hearth_frame* frame, int32_t memory) {
  return hearth::AnswerOn(frame, "frame", [&]() -> hearth::Status {
    if (memory < HEARTH_MEMORY_HOST || memory > HEARTH_MEMORY_ANDROID_HARDWARE_BUFFER)
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "there is no memory kind {}", memory);
    frame->frame.memory = static_cast<hearth::MemoryKind>(memory);
    return hearth::Status::Ok();
  });
}

hearth_status hearth_frame_set_plane(hearth_frame* frame, size_t plane, uint64_t handle, uint64_t size_bytes,
                                     uint64_t offset_bytes, uint64_t row_pitch_bytes) {
  return hearth::AnswerOn(frame, "frame", [&]() -> hearth::Status {
    if (plane >= frame->frame.planes.size())
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "a frame has planes 0 to 2, there is no plane {}",
                           plane);
    frame->frame.planes[plane] = {handle, size_bytes, offset_bytes, row_pitch_bytes};
    return hearth::Status::Ok();
  });
}

hearth_status hearth_frame_set_crop(hearth_frame* frame, int32_t x, int32_t y, int32_t width, int32_t height) {
  return hearth::AnswerOn(frame, "frame", [&] { frame->frame.crop = {x, y, width, height}; });
}

hearth_status hearth_frame_set_orientation(hearth_frame* frame, int32_t rotation, int32_t flip_horizontally,
                                           int32_t flip_vertically) {
  return hearth::AnswerOn(frame, "frame", [&] {
    frame->frame.rotation = rotation;
    frame->frame.flip_horizontally = flip_horizontally != 0;
    frame->frame.flip_vertically = flip_vertically != 0;
  });
}

hearth_status hearth_frame_set_matrix(hearth_frame* frame, int32_t matrix, int32_t is_full_range) {
  return hearth::AnswerOn(frame, "frame", [&]() -> hearth::Status {
    if (matrix != HEARTH_MATRIX_BT601 && matrix != HEARTH_MATRIX_BT709)
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "there is no matrix {}", matrix);
    frame->frame.matrix = static_cast<hearth::YuvMatrix>(matrix);
    frame->frame.is_full_range = is_full_range != 0;
    return hearth::Status::Ok();
  });
}

hearth_status hearth_frame_set_scale(hearth_frame* frame, const float* mean, const float* scale) {
  return hearth::Answer([&]() -> hearth::Status {
    HEARTH_NOT_NULL(frame);
    HEARTH_NOT_NULL(mean);
    HEARTH_NOT_NULL(scale);
    std::copy_n(mean, 4, frame->frame.mean.begin());
    std::copy_n(scale, 4, frame->frame.scale.begin());
    return hearth::Status::Ok();
  });
}

hearth_status hearth_frame_set_image_layout(hearth_frame* frame, uint32_t layout) {
  return hearth::AnswerOn(frame, "frame", [&] { frame->frame.image_layout = layout; });
}

hearth_status hearth_frame_set_drm_modifier(hearth_frame* frame, uint64_t modifier) {
  return hearth::AnswerOn(frame, "frame", [&] { frame->frame.drm_modifier = modifier; });
}

hearth_status hearth_frame_set_raw_bytes(hearth_frame* frame, int32_t is_raw) {
  return hearth::AnswerOn(frame, "frame", [&] { frame->frame.raw_bytes = is_raw != 0; });
}

hearth_status hearth_session_bind_frame(hearth_session* session, size_t index, const hearth_frame* frame) {
  return hearth::AnswerOn(session, "session", [&]() -> hearth::Status {
    if (index >= session->inputs.size())
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "the model has {} inputs; there is no input {}",
                           session->inputs.size(), index);
    const std::string& name = session->inputs[index].info->name;
    return frame == nullptr ? session->session->UnbindInput(name) : session->session->BindFrame(name, frame->frame);
  });
}
