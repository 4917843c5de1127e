// What outputs mean, as plain values; hearth/_results.py gives them names.
#include "frontends/python/bindings.h"
#include "hearth/results.h"

namespace py = pybind11;

namespace hearth {
namespace {

py::list PointsOf(const std::vector<KeyPoint>& points, const Skeleton* skeleton) {
  py::list list;
  for (size_t k = 0; k < points.size(); ++k)
    list.append(py::make_tuple(PointName(skeleton, k), points[k].x, points[k].y, points[k].score));
  return list;
}

}  // namespace

void BindResults(py::module_& module) {
  using Result = Interpretation;
  py::class_<Result>(module, "Result")
      .def_property_readonly("meaning", [](const Result& r) { return std::string(MeaningName(r.group.meaning)); })
      .def_property_readonly("reason", [](const Result& r) { return r.group.reason; })
      .def_property_readonly("outputs", [](const Result& r) { return r.group.outputs; })
      .def_property_readonly("classes",
                             [](const Result& r) {
                               py::list list;
                               for (const ScoredClass& c : r.classes)
                                 list.append(py::make_tuple(c.class_index, c.label, c.score));
                               return list;
                             })
      .def_property_readonly("boxes",
                             [](const Result& r) {
                               py::list list;
                               for (const Box& b : r.boxes)
                                 list.append(py::make_tuple(b.class_index, b.label, b.score, b.left, b.top, b.right,
                                                            b.bottom, PointsOf(b.points, b.skeleton)));
                               return list;
                             })
      .def_property_readonly(
          "kind",
          [](const Result& r) { return r.points.skeleton == nullptr ? "" : std::string(r.points.skeleton->name); })
      .def_property_readonly("points_score", [](const Result& r) { return r.points.score; })
      .def_property_readonly("points", [](const Result& r) { return PointsOf(r.points.points, r.points.skeleton); })
      .def_property_readonly("map",
                             [](const Result& r) {
                               const auto* bytes = reinterpret_cast<const char*>(r.map.values.data());
                               return py::make_tuple(r.map.height, r.map.width,
                                                     py::bytes(bytes, r.map.values.size() * sizeof(float)));
                             })
      .def_property_readonly("areas",
                             [](const Result& r) {
                               py::list list;
                               for (const ClassArea& a : r.areas)
                                 list.append(py::make_tuple(a.class_index, a.label, a.share));
                               return list;
                             })
      .def(
          "draw",
          [](const Result& r, const py::object& pixels, int height, int width) {
            RgbPicture picture{width, height, {}};
            if (!pixels.is_none()) {
              const BufferBytes buffer(pixels, BufferBytes::Use::kRead);
              const auto* first = reinterpret_cast<const uint8_t*>(buffer.bytes().data());
              picture.values.assign(first, first + buffer.bytes().size());
            }
            const RgbPicture drawn = Value(WithoutGil([&] { return Draw(r, picture); }));
            return py::make_tuple(drawn.height, drawn.width,
                                  py::bytes(reinterpret_cast<const char*>(drawn.values.data()), drawn.values.size()));
          },
          py::arg("pixels"), py::arg("height"), py::arg("width"));
}

}  // namespace hearth
