// Prints -1 -2 -3, calculated by an installed Hearth.
#include <hearth/hearth.h>

#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  hearth::GraphBuilder builder("negate");
  builder.Output(builder.Unary("neg", builder.Input("x", {1, 3})), "y");
  const hearth::Result<hearth::Model> model = std::move(builder).Build();
  if (!model.ok()) return 1;
  hearth::SessionOptions options{.device = "cpu"};
  if (!hearth::SetSessionOption(options, "cache", "off").ok()) return 1;
  hearth::Result<hearth::Session> session = hearth::Session::Create(*model, options);
  const std::vector<float> x = {1, 2, 3};
  if (!session.ok() || !session->SetInput("x", std::as_bytes(std::span(x))).ok() || !session->Run().ok()) return 1;
  float y[3] = {};
  std::memcpy(y, session->output(0).data(), sizeof y);
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
}
