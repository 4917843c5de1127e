#!/usr/bin/env bash
# check_exports.sh LIBRARY: the plugin exports its interface and nothing else, and links no driver. What XNNPACK calls to
# share out its loops (backends/cpu/xnnpack/own_threads.h) has to be seen by the linker.
set -euo pipefail
expected="LiteRtAcceleratorImpl
LiteRtRegisterGpuAccelerator
TfLiteGpuDelegateOptionsV2Default
TfLiteGpuDelegateV2Create
TfLiteGpuDelegateV2Delete
tflite_plugin_create_delegate
tflite_plugin_destroy_delegate"
exported=$(nm --dynamic --defined-only --format=posix "$1" | cut --delimiter=' ' --fields=1 |
  grep --invert-match '^pthreadpool_' | LC_ALL=C sort)
diff <(echo "$expected") <(echo "$exported")
"$(dirname "${BASH_SOURCE[0]}")/../scripts/check_library.sh" "$1"
