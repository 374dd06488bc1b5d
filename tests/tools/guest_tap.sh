# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# TAP for scripts in the virtual machine; $folder is a folder for files.
number=0
failed=0

check() {
	number=$((number + 1))
	name=$1
	shift
	if "$@"; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		echo "# $*"
		sed 's/^/# /' "$folder/out" "$folder/err"
		dmesg | tail -n 5 | sed 's/^/# | /'
	fi
}

# Runs the command: status in $status, output in the files out and err.
try() {
	"$@" > "$folder/out" 2> "$folder/err"
	status=$?
}

# says STATUS TEXT...: how the last command ended, and words that it wrote
says() {
	[ "$status" -eq "$1" ] || return 1
	shift
	for text; do
		grep -qF -- "$text" "$folder/out" "$folder/err" || return 1
	done
}

finish() {
	echo "1..$number"
	exit $failed
}
