#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Puts files into a system below DESTDIR, or takes them away again.
# usage: install.sh install|remove DESTDIR ITEM...
# ITEM is MODE:SOURCE:DESTINATION or link:TARGET:DESTINATION.
set -eu

action=$1
root=$2
shift 2

put() {
	mkdir -p "$(dirname "$root$destination")"
	if [ "$mode" = link ]; then
		ln -sfn "$source" "$root$destination"
	else
		# A program that runs, or a library in use, keeps its old file.
		install -m "$mode" "$source" "$root$destination.new"
		mv -f "$root$destination.new" "$root$destination"
	fi
	echo "  INSTALL $destination"
}

# Folders that are the project's alone go when they are empty.
take() {
	if [ -e "$root$destination" ] || [ -L "$root$destination" ]; then
		rm -f "$root$destination"
		echo "  REMOVE  $destination"
	fi
	case $(dirname "$destination") in
	*/npu) rmdir "$(dirname "$root$destination")" 2>/dev/null || : ;;
	esac
}

for item; do
	mode=${item%%:*}
	rest=${item#*:}
	source=${rest%%:*}
	destination=${rest#*:}
	case $destination in
	/*) ;;
	*)
		echo "install: folders must be absolute: $destination" >&2
		exit 1
		;;
	esac
	case $action in
	install) put ;;
	remove) take ;;
	*)
		echo "install: expected install or remove, found $action" >&2
		exit 1
		;;
	esac
done
