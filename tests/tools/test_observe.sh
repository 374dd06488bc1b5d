#!/bin/sh
# SPDX-License-Identifier: MIT
#
# npu account and npu coredump, in a virtual machine of its own. TAP.
set -e
cd "$(dirname "$0")/../.."
build=${O:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$build/userspace/tools/npu" compile tests/models/fashion.onnx -q -o "$folder/fashion.npu"
tests/vm/run --npu --devices 2 \
	--add tests/tools/guest_tap.sh \
	--add "$build/userspace/tools/npu:/npu/build/userspace/tools/npu" \
	--add "$build/userspace/libnpu/libnpu.so.0:/npu/build/userspace/libnpu/libnpu.so.0" \
	--add "$folder/fashion.npu:/data/fashion.npu" \
	tests/tools/guest_observe.sh
