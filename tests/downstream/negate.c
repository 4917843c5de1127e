// Prints -1 -2 -3, calculated by an installed Hearth: negate [DEVICE], of which the CPU is the default.
#include <hearth/hearth_c.h>
#include <stdio.h>

int main(int count, char** arguments) {
  const int32_t shape[] = {1, 3};
  const float x[] = {1, 2, 3};
  hearth_graph* graph = NULL;
  hearth_model* model = NULL;
  hearth_options* options = NULL;
  hearth_session* session = NULL;
  int is_fine = hearth_graph_create("negate", &graph) == HEARTH_OK;
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", hearth_graph_input(graph, "x", shape, 2)), "y");
  is_fine = is_fine && hearth_graph_build(graph, &model) == HEARTH_OK && hearth_options_create(&options) == HEARTH_OK &&
            hearth_options_set(options, "device", count > 1 ? arguments[1] : "cpu") == HEARTH_OK &&
            hearth_options_set(options, "cache", "off") == HEARTH_OK &&
            hearth_session_create(model, options, &session) == HEARTH_OK &&
            hearth_session_set_input(session, 0, x, sizeof x) == HEARTH_OK && hearth_session_run(session) == HEARTH_OK;
  const float* y = hearth_session_output_data(session, 0, NULL);
  if (is_fine && y != NULL) {
    printf("%g %g %g\n", y[0], y[1], y[2]);
  } else {
    fprintf(stderr, "%s\n", hearth_last_error());
  }
  hearth_session_destroy(session);
  hearth_options_destroy(options);
  hearth_model_destroy(model);
  hearth_graph_destroy(graph);
  return is_fine && y != NULL ? 0 : 1;
}
