#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Debian's kernel image and headers, unpacked in the cache; the machine's own
# kernel and apt configuration stay as they are. A kernel of Debian's source is
# built by debug-kernel.sh instead.
#
# usage: tests/vm/kernel.sh [--kernel NAME] [--update] [--get WHAT]
#   NAME   a row of tests/vm/kernels (this machine's release by default)
#   WHAT   kdir, image, version, modules or root: prints that alone
set -eu

here=$(dirname "$(readlink -f "$0")")
. "$here/debian.sh"

# The headers come as three packages with absolute paths between them.
unpack() {
	version=$1
	root=$2
	final=$3

	for deb in "$root"/debs/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
	rm -r "$root/debs"
	common=$(echo "$version" | sed 's/-amd64$//')-common
	kdir=$root/usr/src/linux-headers-$version
	for folder in "$kdir" "$root/usr/src/linux-headers-$common"; do
		[ -d "$folder" ] || die "no ${folder#"$root"} in the headers packages"
	done
	sed -i "s,/usr/src/linux-headers-,$final/usr/src/linux-headers-,g" \
		"$kdir/Makefile"
	# Links to /usr/lib/linux-kbuild-* would leave the cache.
	for link in scripts tools; do
		for folder in "$kdir" "$root/usr/src/linux-headers-$common"; do
			target=$(readlink "$folder/$link") || continue
			case $target in
			/*) ln -sfn "$final$target" "$folder/$link" ;;
			esac
		done
	done
	# With vmlinux beside it the build makes BTF, which needs pahole.
	if [ -e "$kdir/vmlinux" ]; then
		mv "$kdir/vmlinux" "$kdir/vmlinux.hidden"
	fi
	for modules in "$root/lib/modules/$version" "$root/usr/lib/modules/$version"; do
		[ ! -d "$modules/kernel" ] || break
	done
	[ -d "$modules/kernel" ] || die "no modules of $version in the image package"
	depmod -b "${modules%/lib/modules/*}" "$version"
	printf '%s\n' "$version" > "$root/version"
	printf '%s\n' "$final${modules#"$root"}" > "$root/modules"
}

fetch() {
	suite=$1
	leader=$2
	final=$3

	debian_open "$suite"
	headers=$(debian_depends "$leader" '^linux-headers-[0-9]')
	[ -n "$headers" ] || die "$leader of $suite depends on no linux-headers package"
	version=${headers#linux-headers-}
	# Headers stay for the newest point release only: take the image that matches.
	deb_version=$(debian_version "$headers")
	common=$(debian_depends "$headers" '^linux-headers-.*-common$')
	kbuild=$(debian_depends "$headers" '^linux-kbuild-')
	root=$(mktemp -d "$cache/kernels/.new.XXXXXX")
	trap 'rm -rf "$root"' EXIT
	chmod 755 "$root"
	mkdir "$root/debs"
	echo "fetching Debian's kernel $version ($deb_version) into $final" >&2
	for package in "linux-image-$version" "$headers" "$common" "$kbuild"; do
		match=$(debian_match "$package" "$deb_version")
		debian_download "$root/debs" "$package=$match"
	done
	unpack "$version" "$root" "$final"
	rm -rf "$final"
	mv "$root" "$final"
	trap - EXIT
}

name= update= get=
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
case $3 in
linux-source*)
	final=$("$here/debug-kernel.sh" "$1" ${update:+--update})
	version=$(cat "$final/version")
	kdir=$final/build
	;;
*)
	final=$cache/kernels/$1
	mkdir -p "$cache/kernels"
	exec 9> "$cache/kernels/.lock"
	flock 9
	if [ -n "$update" ] || [ ! -e "$final/version" ]; then
		fetch "$2" "$3" "$final"
	fi
	exec 9>&-
	version=$(cat "$final/version")
	kdir=$final/usr/src/linux-headers-$version
	;;
esac

show() {
	case $1 in
	kdir) echo "$kdir" ;;
	image) echo "$final/boot/vmlinuz-$version" ;;
	version) echo "$version" ;;
	modules) cat "$final/modules" ;;
	root) echo "$final" ;;
	*) die "nothing is called $1, but kdir, image, version, modules and root are" ;;
	esac
}
if [ -n "$get" ]; then
	show "$get"
else
	for what in version kdir image modules root; do
		echo "$what=$(show "$what")"
	done
fi
