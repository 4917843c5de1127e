#!/usr/bin/env bash
# check_library.sh LIBRARY [MOST_BYTES]: prints the stripped size of libhearth.so or of the plugin and what it needs, and
# fails when it is larger than that, when it needs a driver or a loader, which must be opened at run time, and when it can
# be unloaded, which the drivers it opened can't.
set -euo pipefail
library=$1
most_bytes=${2-}
needed=$(readelf --dynamic --wide "$library" | sed --quiet 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip --strip-unneeded -o "$stripped" "$library"
bytes=$(stat --dereference --format %s "$stripped")
echo "$library: $bytes bytes stripped; needs: ${needed//$'\n'/, }"
if [[ -n $most_bytes ]] && (( bytes > most_bytes )); then
  echo "$library: at most $most_bytes bytes were meant; benchmarks/size.py shows where they are" >&2
  exit 1
fi
if grep --extended-regexp '^lib(OpenCL|vulkan|EGL|GL|GLES|OpenGL|epoxy|ssl|crypto|sodium)' <<<"$needed"; then
  echo "$library: a library above is linked; open it at run time, so that the program starts without it" >&2
  exit 1
fi
if ! readelf --dynamic --wide "$library" | grep --quiet NODELETE; then
  echo "$library: dlclose unloads it under the threads of drivers; link it with -z nodelete" >&2
  exit 1
fi
