#!/usr/bin/env bash
# Puts Mesa's Vulkan driver for the CPU of a newer Debian, which has cooperative matrices, into a folder of its own, with
# the C library that it needs; nothing is installed. Prints a program there that runs a Python with it, its first
# argument:
#     MLIR_GEMM_NEWER_LAVAPIPE=$(bash test/newer_lavapipe.sh DIR) pytest test/python/test_coop_matrix.py
# Needs apt-get, whose source of packages it takes, dpkg, and 63 MB of packages.
set -euo pipefail
mkdir -p "${1:?a folder}" && folder="$(cd "$1" && pwd)"
if ! [ -x "$folder/run" ]; then
    suite="${SUITE:-trixie}" keys="${KEYS:-/usr/share/keyrings/debian-archive-keyring.gpg}"
    mkdir -p "$folder"/{lists/partial,cache/archives/partial,root}
    : >"$folder/status"
    mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' | grep -v security | head -1)"
    for each in "$suite" "$suite-backports"; do
        echo "deb [signed-by=$keys] ${mirror:?no source of packages} $each main"
    done >"$folder/sources"
    cat >"$folder/apt.conf" <<CONF
Dir::Etc::sourcelist "$folder/sources";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
CONF
    export APT_CONFIG="$folder/apt.conf"
    {
        apt-get update -qq
        apt-get install -y -qq --download-only --no-install-recommends -t "$suite-backports" mesa-vulkan-drivers libvulkan1
        for package in "$folder"/cache/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
    } >&2
    libraries="$folder/root/usr/lib/x86_64-linux-gnu"
    echo "{\"ICD\": {\"api_version\": \"1.3.0\", \"library_path\": \"$libraries/libvulkan_lvp.so\"}, \"file_format_version\": \"1.0.0\"}" \
        >"$folder/icd.json"
    cat >"$folder/run" <<RUN
#!/bin/sh
python="\$1" && shift && real="\$(readlink -f "\$python")"
export VK_ICD_FILENAMES="$folder/icd.json"
exec "$libraries/ld-linux-x86-64.so.2" --argv0 "\$python" \\
    --library-path "$libraries:\${real%/*}/../lib:/usr/lib/x86_64-linux-gnu" "\$real" "\$@"
RUN
    chmod +x "$folder/run"
fi
echo "$folder/run"
