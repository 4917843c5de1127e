// A web page that needs nothing from elsewhere: headings, sentences, and tables of bars.
#ifndef HEARTH_TOOLS_HEARTH_PICTURES_PAGE_H_
#define HEARTH_TOOLS_HEARTH_PICTURES_PAGE_H_

#include <span>
#include <string>
#include <string_view>

namespace hearth {

struct Bar {
  std::string label;
  double value = 0;  // its length, relative to the largest of its table
  std::string text;  // behind it
};

class Page {
 public:
  explicit Page(std::string_view title);

  void AddHeading(std::string_view text);
  void AddText(std::string_view text);
  // Nothing without bars.
  void AddBars(std::string_view caption, std::span<const Bar> bars);
  std::string ToString() const { return html_ + "</body>\n</html>\n"; }

 private:
  std::string html_;
};

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_PICTURES_PAGE_H_
