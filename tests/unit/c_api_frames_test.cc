// hearth/hearth_c.h: pictures as inputs.
#include <gmock/gmock.h>

#include <span>

#include "tests/testing/c_handles.h"
#include "tests/testing/shared_memory.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;

void MakeNegationOfPixels(OwnedModel& model, int32_t channels) {
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("negate", graph.out()));
  const int32_t shape[] = {1, 1, 2, channels};
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", hearth_graph_input(graph, "x", shape, 4)), "y");
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
}

TEST(CApiFrames, APictureBecomesAnInput) {
  OwnedModel model;
  MakeNegationOfPixels(model, 3);
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));

  // Three grey pixels, of which the right two count, from the last to the first.
  const uint8_t luma[] = {9, 16, 126}, colors[] = {128, 128, 128, 128};
  OwnedFrame frame;
  ASSERT_FINE(hearth_frame_create(HEARTH_PIXELS_NV12, 3, 1, frame.out()));
  ASSERT_FINE(hearth_frame_set_plane(frame, 0, reinterpret_cast<uint64_t>(luma), sizeof luma, 0, 3));
  ASSERT_FINE(hearth_frame_set_plane(frame, 1, reinterpret_cast<uint64_t>(colors), sizeof colors, 0, 4));
  ASSERT_FINE(hearth_frame_set_memory(frame, HEARTH_MEMORY_HOST));
  EXPECT_EQ(hearth_frame_set_memory(frame, HEARTH_MEMORY_ANDROID_HARDWARE_BUFFER + 1), HEARTH_INVALID_ARGUMENT);
  ASSERT_FINE(hearth_frame_set_crop(frame, 1, 0, 2, 1));
  ASSERT_FINE(hearth_frame_set_orientation(frame, 180, 0, 1));
  ASSERT_FINE(hearth_frame_set_matrix(frame, HEARTH_MATRIX_BT709, 0));
  ASSERT_FINE(hearth_frame_set_raw_bytes(frame, 1));
  ASSERT_FINE(hearth_frame_set_image_layout(frame, 1));
  ASSERT_FINE(hearth_frame_set_drm_modifier(frame, 0));
  const float mean[] = {0, 28, 0, 0}, scale[] = {1, 1, 0.5f, 1};
  ASSERT_FINE(hearth_frame_set_scale(frame, mean, scale));
  ASSERT_FINE(hearth_session_bind_frame(session, 0, frame));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-128, -100, -64, 0, 28, 0));

  EXPECT_EQ(hearth_session_bind_frame(session, 1, frame), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_frame_set_plane(frame, 3, 1, 1, 0, 0), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_frame_set_matrix(frame, 2, 0), HEARTH_INVALID_ARGUMENT);
  OwnedFrame none;
  EXPECT_EQ(hearth_frame_create(HEARTH_PIXELS_I420 + 1, 3, 1, none.out()), HEARTH_INVALID_ARGUMENT);
  ASSERT_FINE(hearth_frame_set_crop(frame, 2, 0, 2, 1));
  EXPECT_EQ(hearth_session_bind_frame(session, 0, frame), HEARTH_INVALID_ARGUMENT);
  ASSERT_FINE(hearth_session_bind_frame(session, 0, nullptr));
  EXPECT_EQ(hearth_session_run(session), HEARTH_INVALID_ARGUMENT) << "the input was never set";
}

TEST(CApiFrames, APictureInADmaBufBecomesAnInput) {
  OwnedModel model;
  MakeNegationOfPixels(model, 4);
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));

  const uint8_t pixels[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const testing::SharedMemory memory(std::as_bytes(std::span(pixels)));
  OwnedFrame frame;
  ASSERT_FINE(hearth_frame_create(HEARTH_PIXELS_BGRA8, 2, 1, frame.out()));
  ASSERT_FINE(hearth_frame_set_memory(frame, HEARTH_MEMORY_DMA_BUF));
  ASSERT_FINE(hearth_frame_set_plane(frame, 0, memory.descriptor(), 0, 0, 0));
  ASSERT_FINE(hearth_session_bind_frame(session, 0, frame));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-3, -2, -1, -4, -7, -6, -5, -8));
  ASSERT_FINE(hearth_frame_set_drm_modifier(frame, 1));
  EXPECT_EQ(hearth_session_bind_frame(session, 0, frame), HEARTH_UNSUPPORTED);
}

}  // namespace
}  // namespace hearth
