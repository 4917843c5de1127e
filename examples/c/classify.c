// Classifies a photograph: classify MODEL.tflite PICTURE LABELS.txt [DEVICE]
#include <hearth/hearth_c.h>
#include <stdio.h>
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

static int Fail(const char* what) {
  return fprintf(stderr, "classify: %s\n", what), 1;
}

int main(int argc, char** argv) {
  if (argc < 4) return Fail("usage: classify MODEL.tflite PICTURE LABELS.txt [DEVICE]");
  hearth_options* options = NULL;
  hearth_session* session = NULL;
  if (hearth_options_create(&options) || hearth_options_set(options, "device", argc > 4 ? argv[4] : "auto") ||
      hearth_options_set(options, "top_k", "1") ||  // the best score and its place, in place of all scores
      hearth_session_open(argv[1], options, &session))
    return Fail(hearth_last_error());
  int width, height;
  unsigned char* picture = stbi_load(argv[2], &width, &height, NULL, 3);
  if (picture == NULL) return Fail(stbi_failure_reason());

  // The device resizes it to the model's size and makes numbers of it, for float models from -1 to 1.
  const float mean[4] = {127.5f, 127.5f, 127.5f, 0}, scale[4] = {1 / 127.5f, 1 / 127.5f, 1 / 127.5f, 0};
  hearth_frame* frame = NULL;
  if (hearth_frame_create(HEARTH_PIXELS_RGB8, width, height, &frame) ||
      hearth_frame_set_plane(frame, 0, (uintptr_t)picture, (uint64_t)width * height * 3, 0, 0) ||
      hearth_frame_set_scale(frame, mean, scale) || hearth_session_bind_frame(session, 0, frame) ||
      hearth_session_run(session))
    return Fail(hearth_last_error());
  size_t bytes;
  const float score = *(const float*)hearth_session_output_data(session, 0, &bytes);
  const int32_t best = *(const int32_t*)hearth_session_output_data(session, 1, &bytes);

  char label[256] = "";
  FILE* labels = fopen(argv[3], "r");
  for (int32_t line = 0; labels != NULL && line <= best; ++line) fgets(label, sizeof label, labels);
  printf("%.2f %s", score, label);
  hearth_frame_destroy(frame);
  hearth_session_destroy(session);
  hearth_options_destroy(options);
  return 0;
}
