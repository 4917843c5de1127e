// A network as a picture: input for Graphviz, or drawn by it if it is installed.
#ifndef HEARTH_TOOLS_HEARTH_PICTURES_GRAPH_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_PICTURES_GRAPH_PICTURE_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"

namespace hearth {

// The reason why WriteGraph does not write this path's extension; empty if it does.
std::string WhyNoGraphFile(const std::string& path);

// What WriteDescribed writes to this path: for .txt the graph's text, otherwise Graphviz's input. `milliseconds` of
// operators of the file colour the nodes, the longest one darkest; without any they are coloured by where they run.
std::string DescribeGraph(const std::string& path, const Graph& graph, std::span<const Placement> placements,
                          const std::map<int, double>& milliseconds = {});
// Draws .svg, .png and .pdf by Graphviz; other paths get the description itself. kIoError, also if Graphviz is not
// installed; the file is only touched once its content is there.
Status WriteDescribed(const std::string& path, const std::string& description);
Status WriteGraph(const std::string& path, const Graph& graph, std::span<const Placement> placements);

// Writes a file for the original network and one after each pass that changed it: 00_file.svg, 01_fold_padding.svg, ...
// (.dot if Graphviz is not installed). Stops at the first error and keeps it.
class PassPictures final : public PassObserver {
 public:
  // Creates a missing folder. `device` and `options` determine where nodes would run; they must outlive this.
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

#endif  // HEARTH_TOOLS_HEARTH_PICTURES_GRAPH_PICTURE_H_
