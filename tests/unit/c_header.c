// Compiled only: the header in plain C, and the calls of its first example.
#include <hearth/hearth_c.h>

#if HEARTH_VERSION_NUMBER < HEARTH_MAKE_VERSION(0, 1, 0) || \
    HEARTH_VERSION_NUMBER >= HEARTH_MAKE_VERSION(HEARTH_VERSION_MAJOR + 1, 0, 0)
#error "versions cannot be compared by the preprocessor"
#endif

int ClassifyOnce(const void* pixels, size_t size_bytes);

int ClassifyOnce(const void* pixels, size_t size_bytes) {
  hearth_session* session = NULL;
  hearth_status status = hearth_session_open("mobilenet.tflite", NULL, &session);
  if (status == HEARTH_OK) status = hearth_session_set_input(session, 0, pixels, size_bytes);
  if (status == HEARTH_OK) status = hearth_session_run(session);
  const float* scores = hearth_session_output_data(session, 0, &size_bytes);
  const int found = scores != NULL && scores[0] > 0.5f;
  hearth_session_destroy(session);
  return found;
}
