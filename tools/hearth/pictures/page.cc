#include "tools/hearth/pictures/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace hearth {

Page::Page(std::string_view title)
    : html_(fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.4 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; width: 100%; margin: 1.2em 0; }}
caption {{ text-align: left; font-weight: bold; padding-bottom: 0.3em; }}
th, td {{ padding: 1px 0.7em 1px 0; text-align: left; font-weight: normal; }}
td {{ overflow-wrap: normal; }}
th {{ max-width: 24em; }}
td:nth-child(2) {{ width: 45%; }}
td:nth-child(2) div {{ background: #d1622b; height: 0.9em; min-width: 1px; }}
</style>
</head>
<body>
<h1>{0}</h1>
)",
                        XmlEscaped(title))) {}

void Page::AddHeading(std::string_view text) {
  html_ += fmt::format("<h2>{}</h2>\n", XmlEscaped(text));
}

void Page::AddText(std::string_view text) {
  html_ += fmt::format("<p>{}</p>\n", XmlEscaped(text));
}

void Page::AddBars(std::string_view caption, std::span<const Bar> bars) {
  if (bars.empty()) return;
  const double largest = std::ranges::max(bars, {}, &Bar::value).value;
  html_ += fmt::format("<table>\n<caption>{}</caption>\n", XmlEscaped(caption));
  for (const Bar& bar : bars) {
    const double share = largest > 0 && std::isfinite(largest) ? std::clamp(bar.value / largest, 0.0, 1.0) : 0;
    html_ += fmt::format("<tr><th scope=\"row\">{}</th><td><div style=\"width:{:.2f}%\"></div></td><td>{}</td></tr>\n",
                         XmlEscaped(bar.label), 100 * share, XmlEscaped(bar.text));
  }
  html_ += "</table>\n";
}

}  // namespace hearth
