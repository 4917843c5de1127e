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
      hearth_session_open(argv[1], options, &session))
    return Fail(hearth_last_error());
  int width, height;
  unsigned char* picture = stbi_load(argv[2], &width, &height, NULL, 3);
  if (picture == NULL) return Fail(stbi_failure_reason());

  static float pixels[224 * 224 * 3];  // values from -1 to 1; set_input checks that the model takes this many
  for (int k = 0; k < 224 * 224 * 3; ++k) {
    const int y = k / 3 / 224 * height / 224, x = k / 3 % 224 * width / 224;
    pixels[k] = picture[(y * width + x) * 3 + k % 3] / 127.5f - 1;
  }
  if (hearth_session_set_input(session, 0, pixels, sizeof pixels) || hearth_session_run(session))
    return Fail(hearth_last_error());
  size_t bytes, best = 0;
  const float* scores = hearth_session_output_data(session, 0, &bytes);
  for (size_t k = 0; k < bytes / sizeof(float); ++k) best = scores[k] > scores[best] ? k : best;

  char label[256] = "";
  FILE* labels = fopen(argv[3], "r");
  for (size_t line = 0; labels != NULL && line <= best; ++line) fgets(label, sizeof label, labels);
  printf("%.2f %s", scores[best], label);
  hearth_session_destroy(session);
  hearth_options_destroy(options);
  return 0;
}
