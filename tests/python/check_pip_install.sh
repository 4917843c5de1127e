#!/usr/bin/env bash
# check_pip_install.sh PYTHON FOLDER CC CXX: `pip install` of the repository into a virtual environment in FOLDER, with the
# build's compilers and warnings so that ccache knows most of it; then an inference there. Needs the network, and minutes.
# Skipped (77) where the build requirements can't be had.
set -euo pipefail
python=$1 folder=$2
export CC=$3 CXX=$4
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$folder"
"$python" -m venv "$folder"
if ! "$folder/bin/python" -m pip download --quiet --no-deps --dest "$folder/seen" scikit-build-core pybind11 numpy; then
  echo "SKIP: PyPI cannot be reached"
  exit 77
fi
"$folder/bin/python" -m pip install --quiet --config-settings=cmake.define.HEARTH_WARNINGS_AS_ERRORS=ON "$root"
cd "$folder"
answer=$(bin/python -c '
import hearth
graph = hearth.Graph()
graph.output(graph.unary("neg", graph.input("x", (1, 3))), "y")
print(hearth.Session(graph.build(), device="cpu", cache=False).run([[1, 2, 3]])[0].tolist(), hearth.__file__)')
echo "$answer"
[[ $answer == "[[-1.0, -2.0, -3.0]] $folder/"* ]]
