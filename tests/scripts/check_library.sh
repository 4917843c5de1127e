#!/usr/bin/env bash
# check_library.sh LIBRARY: prints the stripped size of libhearth.so and what it needs, and fails when that includes a
# driver or a loader, which must be opened at run time, and when it can be unloaded, which the drivers it opened can't.
set -euo pipefail
library=$1
needed=$(readelf --dynamic --wide "$library" | sed --quiet 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip --strip-unneeded -o "$stripped" "$library"
echo "$library: $(stat --dereference --format %s "$stripped") bytes stripped; needs: ${needed//$'\n'/, }"
if grep --extended-regexp '^lib(OpenCL|vulkan|EGL|GL|GLES|OpenGL|epoxy|ssl|crypto|sodium)' <<<"$needed"; then
  echo "$library: a library above is linked; open it at run time, so that the program starts without it" >&2
  exit 1
fi
if ! readelf --dynamic --wide "$library" | grep --quiet NODELETE; then
  echo "$library: dlclose unloads it under the threads of drivers; link it with -z nodelete" >&2
  exit 1
fi
