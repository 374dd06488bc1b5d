#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The few files of the kernel's source that tests and checks use, in the cache:
# they are the kernel's, under its licence, and no part of this tree.
#
# usage: tests/vm/source.sh [--kernel NAME] [--update] [--get WHAT]
#   WHAT   root, checkpatch (the script) or kselftest (the folder of its headers)
set -eu

here=$(dirname "$(readlink -f "$0")")
. "$here/debian.sh"

files='scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch
tools/testing/selftests/kselftest.h tools/testing/selftests/kselftest_harness.h'

fetch() {
	suite=$1
	final=$2

	debian_open "$suite"
	package=$(debian_depends linux-source '^linux-source-[0-9]')
	[ -n "$package" ] || die "linux-source of $suite depends on no source package"
	root=$(mktemp -d "$cache/source/.new.XXXXXX")
	trap 'rm -rf "$root"' EXIT
	chmod 755 "$root"
	mkdir "$root/debs"
	echo "fetching a few files of Debian's $package (150 MB) into $final" >&2
	debian_download "$root/debs" "$package"
	names=$(for file in $files; do echo "$package/$file"; done)
	# Both archives are streams: nothing but the named files reaches the disk.
	# shellcheck disable=SC2086
	dpkg-deb --fsys-tarfile "$root"/debs/*.deb |
		tar -xO "./usr/src/$package.tar.xz" | xz -dc |
		tar -x -C "$root" --strip-components=1 $names
	rm -r "$root/debs"
	for file in $files; do
		[ -s "$root/$file" ] || die "$package has no $file"
	done
	rm -rf "$final"
	mv "$root" "$final"
	trap - EXIT
}

name= update= get=root
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) name=$2; shift ;;
	--update) update=1 ;;
	--get) get=$2; shift ;;
	*) die "unknown option $1" ;;
	esac
	shift
done

row=$(kernel_row "$name")
set -- $row
final=$cache/source/$1

mkdir -p "$cache/source"
exec 9> "$cache/source/.lock"
flock 9
if [ -n "$update" ] || [ ! -d "$final" ]; then
	fetch "$2" "$final"
fi
exec 9>&-

case $get in
root) echo "$final" ;;
checkpatch) echo "$final/scripts/checkpatch.pl" ;;
kselftest) echo "$final/tools/testing/selftests" ;;
*) die "nothing is called $get, but root, checkpatch and kselftest are" ;;
esac
