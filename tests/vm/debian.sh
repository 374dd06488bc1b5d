# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# Sourced: downloads from a Debian suite that the machine itself does not use,
# by its own mirror and keyring, in an apt state of our own.

cache=${NPU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/npu}

die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# kernel_row NAME: its row of tests/vm/kernels. Without a name it is the first of this machine's
# Debian release, whose compiler the headers packages ask for, or else the first of all.
kernel_row() {
	release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	awk -v name="$1" -v release="$release" '
		/^#/ || NF != 3 { next }
		name != "" { if ($1 == name) row = row ? row : $0; next }
		row == "" { row = $0 }
		!own && release != "" && index($2, release) == 1 { row = $0; own = 1 }
		END { print row; exit row == "" }' "$here/kernels" ||
		die "no kernel $1 in tests/vm/kernels"
}

debian_mirror() {
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		sed -n 's/^Debian Debian //p' | head -n 1
}

# debian_open SUITE: the functions below then work on that suite
debian_open() {
	mirror=$(debian_mirror)
	[ -n "$mirror" ] || die "no Debian mirror in the apt configuration of this machine"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r "$keyring" ] || die "no $keyring: install debian-archive-keyring"
	state=$cache/apt/$1
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	: > "$state/status"
	echo "deb [signed-by=$keyring] $mirror $1 main" > "$state/sources.list"
	debian_apt apt-get -q update >&2 || die "cannot read $1 from $mirror"
}

debian_apt() {
	program=$1
	shift
	"$program" -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$state" -o Dir::State::status="$state/status" \
		-o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" \
		-o APT::Sandbox::User= -o Acquire::Languages=none \
		-o APT::Get::List-Cleanup=0 -o DPkg::Lock::Timeout=600 "$@"
}

# debian_depends PACKAGE REGEX: the first direct dependency that matches
debian_depends() {
	debian_apt apt-cache depends --important "$1" |
		sed -n 's/^ *|\{0,1\}Depends: //p' | grep -E "$2" | head -n 1
}

debian_version() {
	debian_apt apt-cache show --no-all-versions "$1" | sed -n 's/^Version: //p' | head -n 1
}

# debian_match PACKAGE VERSION: VERSION, if PACKAGE has it
debian_match() {
	debian_apt apt-cache show "$1" | sed -n 's/^Version: //p' | grep -Fx "$2" ||
		die "$1 is not at $2, the version of the other kernel packages"
}

# debian_download FOLDER PACKAGE[=VERSION]: apt checks the hashes
debian_download() {
	(cd "$1" && debian_apt apt-get -q download "$2" >&2) || die "cannot download $2"
}
