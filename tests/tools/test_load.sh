#!/bin/sh
# SPDX-License-Identifier: MIT
#
# npu load, list, info, run and unload in a virtual machine of their own, since a
# machine that other tests share has its devices already. TAP.
set -e
cd "$(dirname "$0")/../.."
build=${O:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$build/userspace/tools/npu" compile tests/models/fashion.onnx -q -o "$folder/fashion.npu"
# Where a tree has them, wherever this one is built.
tests/vm/run --npu-files \
	--add npu.ko --add npu_sim.ko --add tests/tools/guest_tap.sh \
	--add "$build/userspace/tools/npu:/npu/build/userspace/tools/npu" \
	--add "$build/userspace/libnpu/libnpu.so.0:/npu/build/userspace/libnpu/libnpu.so.0" \
	--add "$build/firmware/cp/npu_fw.bin:/npu/build/firmware/cp/npu_fw.bin" \
	--add "$folder/fashion.npu:/data/fashion.npu" \
	--add /bin/kmod:/data/depmod \
	tests/tools/guest_load.sh
