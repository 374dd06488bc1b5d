# SPDX-License-Identifier: MIT
# Completion of npu(1) for bash. Commands and options come from the tool's own help.

_npu_options() {
	"$1" "${@:2}" --help 2>/dev/null | grep -oE -- '^ +-[^A-Z]*' | grep -oE -- '--[a-z][a-z-]*'
}

_npu_commands() {
	"$1" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) +.*/\1/p'
}

_npu_devices() {
	local node

	echo sim
	for node in /dev/accel/accel*; do
		[ ! -e "$node" ] || echo "$node"
	done
}

_npu_words() {
	# shellcheck disable=SC2207 # one word a line is meant
	COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_npu_files() {
	local -

	set -o noglob
	compopt -o filenames 2>/dev/null
	# shellcheck disable=SC2207 # the shell splits at lines
	local IFS=$'\n'
	COMPREPLY=($(compgen -f -- "$1"))
}

_npu() {
	local tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		_npu_words "$(_npu_commands "$tool") --help --version" "$word"
	elif [ "$before" = --device ]; then
		_npu_words "$(_npu_devices)" "$word"
	elif [ "${word#-}" != "$word" ]; then
		_npu_words "$(_npu_options "$tool" "${COMP_WORDS[1]}")" "$word"
	elif [ "${COMP_WORDS[1]}" = info ]; then
		_npu_words "$(_npu_devices)" "$word"
	else
		_npu_files "$word"
	fi
}

complete -F _npu npu
