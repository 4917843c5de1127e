// A network as a picture: for Graphviz, or drawn by it where it is installed.
#ifndef HEARTH_TOOLS_HEARTH_GRAPH_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_GRAPH_PICTURE_H_

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"

namespace hearth {

// Why WriteGraph takes no file of this name (its ending says what is written); empty where it does.
std::string WhyNoGraphFile(const std::string& path);

// For Graphviz: nodes on the device filled, on the CPU white, unknown ones red. `placements` are of the graph's nodes.
std::string DotText(const Graph& graph, std::span<const Placement> placements);

// Whether Graphviz's program `dot` can be started here.
bool HasGraphviz();

// By the path's ending: .txt the graph's text, .svg, .png and .pdf a picture drawn by Graphviz, else its input. Errors:
// kIoError, also where a picture needs Graphviz and it is not installed.
Status WriteGraph(const std::string& path, const Graph& graph, std::span<const Placement> placements);

// Writes a file for the network as it was and one after every pass that changed it: 00_file.svg, 01_fold_padding.svg,
// ... (.dot where Graphviz is not installed). The first error is kept and ends the writing.
class PassPictures final : public PassObserver {
 public:
  // Makes the folder where it is missing. `device` and `options` say where nodes would run; they outlive this.
  PassPictures(std::string folder, const DeviceInfo& device, const LowerOptions& options);

  void Add(std::string_view name, const Graph& graph);
  void AfterPass(std::string_view name, Verdict verdict, const Graph& graph) override;

  const Status& status() const { return status_; }

 private:
  std::string folder_;
  const DeviceInfo& device_;
  const LowerOptions& options_;
  std::string ending_;
  int count_ = 0;
  Status status_;
};

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_GRAPH_PICTURE_H_
