#!/usr/bin/env bash
# Puts PoCL, OpenCL for the CPU, of a newer Debian, which takes SPIR-V, into a folder of its own, with the C library and
# the programs that it needs; nothing is installed. Prints a program there that runs a Python with it, its first argument:
#     MLIR_GEMM_POCL=$(bash test/newer_pocl.sh /tmp/pocl) pytest test/python/test_opencl.py
# Debian's library has the places of llvm-spirv and clang written in, as /usr/bin/llvm-spirv-18: the copy gets those in
# the folder, whose path must therefore be short. Needs apt-get and 99 MB of packages.
set -euo pipefail
mkdir -p "${1:?a folder}" && folder="$(cd "$1" && pwd)"
if ! [ -x "$folder/run" ]; then
    [ ${#folder} -le 11 ] || { echo "the path $folder is too long; expected at most 11 letters, such as /tmp/pocl" >&2; exit 1; }
    SKIP='-dev_|^lib([alth]w*|ub)san|^linux-libc|gprof' \
        bash "$(dirname "${BASH_SOURCE[0]}")/newer_packages.sh" "$folder" "${SUITE:-trixie}" pocl-opencl-icd >&2
    root="$folder/root" libraries="$folder/root/usr/lib/x86_64-linux-gnu"
    spirv="$(cd "$root" && echo usr/bin/llvm-spirv-*)" clang="$(cd "$root" && echo usr/lib/llvm-*/bin/clang-*)"
    llvm="$root/${clang%/bin/*}/lib"
    program() {  # one of the folder, with the C library of the folder
        cat >"$folder/$1" <<RUN
#!/bin/sh
PATH="$folder:\$PATH" exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$llvm" "$root/$2" "\$@"
RUN
        chmod +x "$folder/$1"
    }
    program llvm-spirv "$spirv"
    program clang "$clang"
    program ld usr/bin/x86_64-linux-gnu-ld.bfd
    pocl="$(readlink -f "$libraries/libpocl.so.2")"
    for each in "llvm-spirv:$spirv" "clang:$clang"; do
        new="$folder/${each%%:*}" old="/${each#*:}"
        while [ ${#new} -lt ${#old} ]; do new="$new@"; done  # each @ is the byte that ends a text in C
        sed -i "s:$old:$(printf %s "$new" | sed 's/@/\\x00/g'):" "$pocl"
    done
    mkdir -p "$folder/vendors" && echo "$pocl" >"$folder/vendors/pocl.icd"
    cat >"$folder/run" <<RUN
#!/bin/sh
python="\$1" && shift && real="\$(readlink -f "\$python")"
export OCL_ICD_VENDORS="$folder/vendors" POCL_CACHE_DIR="$folder/kernels"
exec "$libraries/ld-linux-x86-64.so.2" --argv0 "\$python" \\
    --library-path "$libraries:$llvm:\${real%/*}/../lib:/usr/lib/x86_64-linux-gnu" "\$real" "\$@"
RUN
    chmod +x "$folder/run"
fi
echo "$folder/run"
