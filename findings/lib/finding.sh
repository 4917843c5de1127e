# shellcheck shell=bash
# Sourced by every finding. Everything that it installs lies in a temporary folder that is removed at the end, or in
# FINDINGS_FOLDER if that is set, where later runs find it again.
set -euo pipefail

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp --directory "${TMPDIR:-/tmp}/finding.XXXXXX")
trap 'rm -rf "$work"' EXIT
kept=${FINDINGS_FOLDER:-$work}
mkdir -p "$kept"

# packages NAME==VERSION...: an environment with these packages from PyPI, in which `python` runs. It prints them.
packages() {
  environment=$kept/$(printf '%s\n' "$@" | sha256sum | cut -c1-16)
  if [[ ! -e $environment/complete ]]; then
    python3 -m venv --clear "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "$@"
    touch "$environment/complete"
  fi
  printf '%s\n' "$@" | paste --serial --delimiters=' '
}

# python [ARGUMENT...]: runs in the last environment and in the work folder; finding.py is at hand.
python() {
  (cd "$work" && PYTHONPATH=$lib PYTHONWARNINGS=ignore "$environment/bin/python" "$@" 2> >(grep --invert-match '^INFO: ' >&2))
}

# installed PACKAGE=VERSION...: ends the script unless Debian's packages are installed in these versions.
installed() {
  for wanted in "$@"; do
    have=${wanted%%=*}=$(dpkg-query --show --showformat='${Version}' "${wanted%%=*}" 2>/dev/null || echo none)
    [[ $have == "$wanted" ]] || { echo "needs $wanted, has $have"; exit 2; }
  done
  printf '%s\n' "$@" | paste --serial --delimiters=' '
}

# unpack SUITE PACKAGE...: the newest of these packages in a suite of Debian, unpacked into $root and not installed. Needs
# no rights: apt-get has lists of its own. Prints the versions.
unpack() {
  local suite=$1 apt=$kept/apt-$1 options archive
  root=$kept/$suite-$(printf '%s\n' "$@" | sha256sum | cut -c1-16)
  if [[ ! -e $root/complete ]]; then
    mkdir -p "$root/debs" "$apt"/{lists,cache/archives}/partial
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$apt/list"
    options=(-qq -o "Dir::Etc::sourcelist=$apt/list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
             -o "Dir::Cache=$apt/cache")
    apt-get "${options[@]}" update 2>/dev/null
    (cd "$root/debs" && apt-get "${options[@]}" download "${@:2}" 2>/dev/null)
    for archive in "$root"/debs/*.deb; do dpkg-deb --extract "$archive" "$root"; done
    touch "$root/complete"
  fi
  find "$root/debs" -name "*.deb" -printf "%f\n" | sort
}

# vulkan MANIFEST [LIBRARY]: the next programs use this driver; LIBRARY stands in for the one in the manifest.
vulkan() {
  export VK_ICD_FILENAMES=$1
  if [[ $# == 2 ]]; then
    VK_ICD_FILENAMES=$work/driver.json
    sed "s|\"library_path\": \"[^\"]*\"|\"library_path\": \"$2\"|" "$1" >"$VK_ICD_FILENAMES"
  fi
}

# processor FLAG...: ends the script where the processor lacks one of them: what is seen depends on it.
processor() {
  for flag in "$@"; do
    grep --quiet --word-regexp "$flag" /proc/cpuinfo || { echo "not tried: the processor has no $flag"; exit 0; }
  done
}
