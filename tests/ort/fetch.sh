#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ONNX Runtime for Node.js, in the cache: the reference of the differential
# tests. Two packages by npm, of pinned versions and contents; of them only
# what runs on this kind of machine. Prints the folder that holds node_modules.
#
# usage: tests/ort/fetch.sh
# Exit status 3: npm is missing or cannot be reached.
set -eu

here=$(dirname "$(readlink -f "$0")")
cache=${NPU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/npu}
version=1.30.0

die() {
	echo "fetch.sh: $1" >&2
	exit "${2:-1}"
}

case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
*) die "onnxruntime-node has nothing for $(uname -m)" 3 ;;
esac

fetch() {
	command -v npm > /dev/null || die "npm is missing: install what tests/deps.txt lists" 3
	new=$(mktemp -d "$cache/ort/.new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	echo "fetching onnxruntime-node $version (115 MB) into $final" >&2
	(cd "$new" && npm pack --silent --fetch-retries=1 --fetch-retry-mintimeout=3000 \
		"onnxruntime-node@$version" "onnxruntime-common@$version" > /dev/null) ||
		die "npm cannot bring onnxruntime-node $version" 3
	(cd "$new" && sha512sum --quiet -c "$here/packages.sha512") ||
		die "the packages are not those of tests/ort/packages.sha512"
	for package in onnxruntime-node onnxruntime-common; do
		mkdir -p "$new/node_modules/$package"
		tar -xzf "$new/$package-$version.tgz" -C "$new/node_modules/$package" \
			--strip-components=1 --exclude=package/bin/napi-v6/darwin \
			--exclude=package/bin/napi-v6/win32
		rm "$new/$package-$version.tgz"
	done
	for other in "$new"/node_modules/onnxruntime-node/bin/napi-v6/linux/*; do
		[ "${other##*/}" = $arch ] || rm -rf "$other"
	done
	chmod 755 "$new"
	mv "$new" "$final"
	trap - EXIT
}

final=$cache/ort/$version
mkdir -p "$cache/ort"
exec 9> "$cache/ort/.lock"
flock 9
[ -d "$final" ] || fetch
exec 9>&-
echo "$final"
