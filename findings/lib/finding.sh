# shellcheck shell=bash
# Sourced by every finding. Everything that it installs lies in a temporary folder that is removed at the end, or in
# FINDINGS_FOLDER if that is set, where later runs find it again.
set -euo pipefail

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp --directory "${TMPDIR:-/tmp}/finding.XXXXXX")
trap 'rm -rf "$work"' EXIT
installed=${FINDINGS_FOLDER:-$work}
mkdir -p "$installed"

# packages NAME==VERSION...: an environment with these packages from PyPI, in which `python` runs. It prints them.
packages() {
  environment=$installed/$(printf '%s\n' "$@" | sha256sum | cut -c1-16)
  if [[ ! -e $environment/complete ]]; then
    python3 -m venv --clear "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "$@"
    touch "$environment/complete"
  fi
  printf '%s\n' "$@" | paste --serial --delimiters=' '
}

# python [ARGUMENT...]: runs in the last environment and in the work folder; finding.py is at hand.
python() {
  (cd "$work" && PYTHONPATH=$lib PYTHONWARNINGS=ignore "$environment/bin/python" "$@")
}

# debian NAME=VERSION...: these packages are unpacked, not installed, into $root, for programs that are told where
# libraries lie.
debian() {
  root=$installed/$(printf '%s\n' "$@" | sha256sum | cut -c1-16)
  if [[ ! -e $root/complete ]]; then
    mkdir -p "$root"
    (cd "$work" && apt-get download -qq "$@" && for package in ./*.deb; do dpkg-deb --extract "$package" "$root"; done)
    touch "$root/complete"
  fi
  printf '%s\n' "$@" | paste --serial --delimiters=' '
}

# processor FLAG...: ends the script where the processor lacks one of them: what is seen depends on it.
processor() {
  for flag in "$@"; do
    grep --quiet --word-regexp "$flag" /proc/cpuinfo || { echo "not tried: the processor has no $flag"; exit 0; }
  done
}
