#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs the Debian packages that tests/deps.txt lists and that are missing.
# usage: tests/deps.sh [LIST]
set -eu

list=${1:-$(dirname "$0")/deps.txt}
packages=$(sed 's/[[:space:]]*#.*//; /^[[:space:]]*$/d' "$list" |
	while read -r package command; do
		command=${command#(}
		[ -n "$command" ] && command -v "${command%)}" > /dev/null || echo "$package"
	done)

missing() {
	# shellcheck disable=SC2086 # one word a package is meant
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null |
		sed -n 's/^installed //p' | sort -u > "$tmp/have"
	printf '%s\n' $packages | sort -u | comm -23 - "$tmp/have"
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

want=$(missing)
[ -n "$want" ] || exit 0

echo "installing: $(echo $want)"
if [ "$(id -u)" -ne 0 ]; then
	echo "deps: packages are missing and only root can install them; as root:" >&2
	echo "  apt-get install -y --no-install-recommends" $want >&2
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! apt-cache show $want >/dev/null 2>&1; then
	apt-get update -q
fi
# Stale lists name packages the mirror no longer has: refresh once, then give up.
# shellcheck disable=SC2086
install() {
	apt-get install -q -y --no-install-recommends \
		-o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 $want
}
install || { apt-get update -q && install; }

want=$(missing)
if [ -n "$want" ]; then
	echo "deps: still missing after the installation:" $want >&2
	exit 1
fi
