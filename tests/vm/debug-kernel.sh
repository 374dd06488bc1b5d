#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A kernel with all its detectors, built from Debian's source into the cache: once
# for each version of the source and each text of tests/vm/NAME.config.
#
# usage: tests/vm/debug-kernel.sh NAME [--update]
#   NAME   a row of tests/vm/kernels whose package leads to kernel source
# Prints the folder with the files version, modules and boot/vmlinuz-VERSION, and the
# folder build, for modules.
set -eu

here=$(dirname "$(readlink -f "$0")")
. "$here/debian.sh"

# Files that make compiles or links, for the progress line only.
about=1450

# Which source it is: asked once, and again with --update.
find_source() {
	facts=$cache/source/$name.package
	if [ -n "$update" ] || [ ! -s "$facts" ]; then
		debian_open "$suite"
		package=$(debian_depends "$leader" '^linux-source-[0-9]')
		[ -n "$package" ] || die "$leader of $suite depends on no source package"
		echo "$package $(debian_version "$package")" > "$facts.new"
		mv "$facts.new" "$facts"
	fi
	read -r package deb_version < "$facts"
}

unpack() {
	mkdir -p "$final/debs" "$final/source"
	debian_open "$suite"
	debian_download "$final/debs" "$package=$deb_version"
	echo "unpacking the kernel's source" >&2
	dpkg-deb --fsys-tarfile "$final"/debs/*.deb |
		tar -xO "./usr/src/$package.tar.xz" | xz -dc |
		tar -x -C "$final/source" --strip-components=1
	rm -r "$final/debs"
}

kmake() {
	make -C "$final/source" O="$final/build" "$@"
}

# What an option depends on may have gone: then make drops the line without a word.
configure() {
	kmake -s KCONFIG_ALLCONFIG="$config" allnoconfig > "$final/log" 2>&1 ||
		fail "cannot be configured"
	sed -n 's/^\(CONFIG_[A-Z0-9_]*\)=.*/&/p; s/^# CONFIG_[A-Z0-9_]* is not set$/&/p' \
		"$config" > "$final/wanted"
	grep -Fvx -f "$final/build/.config" "$final/wanted" | grep -v '^#' > "$final/missing" || true
	sed -n 's/^# \(CONFIG_[A-Z0-9_]*\) is not set$/^\1=/p' "$final/wanted" > "$final/off"
	grep -f "$final/off" "$final/build/.config" >> "$final/missing" || true
	[ ! -s "$final/missing" ] ||
		die "$package does not take these lines of $config: $(tr '\n' ' ' < "$final/missing")"
	rm "$final/wanted" "$final/missing" "$final/off"
}

fail() {
	tail -n 30 "$final/log" >&2
	die "the kernel $1"
}

progress() {
	awk -v about=$about -v terminal="$(test -t 2 && echo 1)" '
		/^  (CC|AS|AR|LD) / {
			if (++count > about)
				about = count
			if (terminal)
				printf "\r\033[Kkernel: %d of about %d  %s", count, about, $2
			else if (count % 250 == 0)
				printf "kernel: %d of about %d files\n", count, about
			fflush()
		}
		END { if (terminal) printf "\r\033[K" }' >&2
}

compile() {
	rm -f "$final/failed"
	{
		nice -n 10 ${MAKE:-make} -C "$final/source" O="$final/build" -j"$(nproc)" \
			bzImage modules 2>&1 || : > "$final/failed"
	} | tee -a "$final/log" | progress
	[ ! -e "$final/failed" ] || fail "does not build"
}

# Modules of others are built with headers, scripts and objtool: 1.7 GB go.
prune() {
	find "$final/build" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name 'vmlinux*' \) \
		! -path '*/scripts/*' ! -path '*/objtool/*' -type f -delete
	rm -rf "$final/build/arch/x86/boot"
	(
		cd "$final/source"
		find . -mindepth 1 -maxdepth 1 ! -name arch ! -name include ! -name scripts \
			! -name Makefile ! -name Kbuild ! -name Kconfig ! -name tools -exec rm -r {} +
		find arch -mindepth 1 -maxdepth 1 ! -name x86 ! -name Kconfig -exec rm -r {} +
		find arch -name '*.[cS]' -delete
		find tools -mindepth 1 -maxdepth 1 ! -name objtool ! -name scripts ! -name build \
			! -name include -exec rm -r {} +
	)
}

install_kernel() {
	version=$(cat "$final/build/include/config/kernel.release")
	kmake -s INSTALL_MOD_PATH="$final" modules_install >> "$final/log" 2>&1 ||
		fail "cannot be installed"
	mkdir -p "$final/boot"
	cp "$final/build/arch/x86/boot/bzImage" "$final/boot/vmlinuz-$version"
	cp "$final/build/.config" "$final/boot/config-$version"
	prune
	depmod -b "$final" "$version"
	echo "$final/lib/modules/$version" > "$final/modules"
	# Last: it says that all else is there.
	echo "$version" > "$final/version"
}

name=${1:?a row of tests/vm/kernels}
update=
[ "${2:-}" != --update ] || update=1
row=$(kernel_row "$name")
set -- $row
suite=$2
leader=$3
config=$here/$name.config
[ -r "$config" ] || die "no $config"

mkdir -p "$cache/kernels" "$cache/source"
exec 9> "$cache/kernels/.lock-$name"
flock 9
find_source
hash=$({ echo "$package $deb_version"; grep -v '^#' "$config"; } | sha256sum | cut -c 1-12)
final=$cache/kernels/$name-$hash
if [ ! -e "$final/version" ]; then
	echo "building a kernel from Debian's $package $deb_version in $final" >&2
	rm -rf "$final"
	unpack
	configure
	compile
	install_kernel
fi
echo "$final"
