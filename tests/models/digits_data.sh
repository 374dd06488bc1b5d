#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Handwritten digits of 8 x 8 pixels, in the cache: one file of python3-sklearn of
# this machine's Debian release, without that package's dependencies. Prints its path.
#
# usage: tests/models/digits_data.sh
set -eu

here=$(dirname "$(readlink -f "$0")")
. "$here/../vm/debian.sh"

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
final=$cache/digits/$release
mkdir -p "$cache/digits"
exec 9> "$cache/digits/.lock"
flock 9
if [ ! -d "$final" ]; then
	new=$(mktemp -d "$cache/digits/.new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	debian_open "$release"
	debian_download "$new" python3-sklearn
	# In another release the package may hold it in parts.
	dpkg-deb --fsys-tarfile "$new"/python3-sklearn_*.deb |
		tar -xO --wildcards '*/datasets/data/digits.csv.gz' > "$new/digits.csv.gz" ||
		die "python3-sklearn of $release has no digits.csv.gz"
	rm "$new"/*.deb
	chmod 755 "$new"
	mv "$new" "$final"
	trap - EXIT
fi
exec 9>&-
echo "$final/digits.csv.gz"
