#!/usr/bin/env bash
# Puts Mesa's Vulkan driver for the CPU of a newer Debian, which has cooperative matrices, into a folder of its own, with
# the C library that it needs; nothing is installed. Prints a program there that runs a Python with it, its first
# argument:
#     MLIR_GEMM_NEWER_LAVAPIPE=$(bash test/newer_lavapipe.sh DIR) pytest test/python/test_coop_matrix.py
# Needs apt-get and 63 MB of packages.
set -euo pipefail
mkdir -p "${1:?a folder}" && folder="$(cd "$1" && pwd)"
if ! [ -x "$folder/run" ]; then
    suite="${SUITE:-trixie}"
    bash "$(dirname "${BASH_SOURCE[0]}")/newer_packages.sh" "$folder" "$suite $suite-backports" \
        mesa-vulkan-drivers libvulkan1 >&2
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
