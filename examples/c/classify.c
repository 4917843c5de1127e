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
  hearth_results* results = NULL;
  if (hearth_options_create(&options) || hearth_options_set(options, "device", argc > 4 ? argv[4] : "auto") ||
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
      hearth_session_run(session) || hearth_session_interpret(session, "classes", 1, 0, &results))
    return Fail(hearth_last_error());

  char label[256] = "";
  FILE* labels = fopen(argv[3], "r");
  for (int64_t line = 0; labels != NULL && line <= hearth_result_class(results, 0, 0); ++line)
    fgets(label, sizeof label, labels);
  printf("%.2f %s", hearth_result_score(results, 0, 0), label);
  hearth_results_destroy(results);
  hearth_frame_destroy(frame);
  hearth_session_destroy(session);
  hearth_options_destroy(options);
  return 0;
}
