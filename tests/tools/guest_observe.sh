#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs in the virtual machine, with two simulated devices: who used what. TAP on the
# output.
# shellcheck disable=SC2317 # functions are called through check()
npu=/npu/build/userspace/tools/npu
module=/data/fashion.npu
folder=$(mktemp -d)
unset NPU_DEVICE NPU_FIRMWARE
. tests/tools/guest_tap.sh

# ---- npu account ----

# field FILE KEY: the first number with this key in a line of JSON
field() {
	sed "s/^.*\"processes\":\[{[^}]*\"$2\":\([0-9]*\)[,}].*/\1/" "$1"
}

equals() {
	[ "$1" = "$2" ] || { echo "# $1, want $2"; false; }
}

try "$npu" account --closed
check 'nobody has used anything' says 0 'JOBS FAILED'
check 'and the table is empty' [ "$(wc -l < "$folder/out")" -eq 1 ]
try "$npu" run "$module" --items 2 --json
check 'a module runs' says 0 '"cycles":'
cycles=$(sed 's/.*"items":[0-9]*,"cycles":\([0-9]*\).*/\1/' "$folder/out")
try "$npu" account --json
check 'its process is metered, though it has gone' says 0 '"comm":"npu"' '"user":"root"'
check 'with its cycles' equals "$(field "$folder/out" cycles)" "$cycles"
check 'and no failed job' equals "$(field "$folder/out" jobs_failed)" 0
check 'energy is told' [ "$(field "$folder/out" energy_nj)" -gt 0 ]
check 'sums by user and cgroup are there' says 0 '"users":[{"uid":0' '"cgroups":[{"cgroup":'
try "$npu" account
check 'the table names it' says 0 'PROCESS' 'npu ' 'root' ' mJ'
try "$npu" account --by user
check 'the users, too' says 0 'USER' 'root'
try "$npu" account --by cgroup
check 'and the cgroups' says 0 'CGROUP'
try "$npu" account 1
check 'the other device was not used' [ "$(wc -l < "$folder/out")" -eq 1 ]
try "$npu" account /dev/accel/accel9
check 'an absent device is named' says 1 '/dev/accel/accel9' 'npu list'
# shellcheck disable=SC2217 # the open device is what counts
sleep 1000 < /dev/accel/accel1 &
user=$!
try "$npu" account --live 1
check 'a client that is there is live' says 0 ' live' 'root'
chmod 666 /dev/accel/accel1
try su user -c "$npu account 1"
check 'another user does not see it' [ "$status" -eq 0 ]
check 'nor anything else' [ "$(wc -l < "$folder/out")" -eq 1 ]
kill $user
wait $user 2> /dev/null
try "$npu" account --live 1
check 'gone, it is not live' [ "$(grep -c live "$folder/out")" -eq 0 ]

# ---- npu coredump ----

try "$npu" coredump
check 'without a reset there is no dump' says 1 'there is no dump'
mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null
echo 1 > /sys/kernel/debug/accel/npu_sim.npu.1/reset
dump_of() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		try "$npu" coredump "$1"
		[ "$status" -ne 0 ] || return 0
		sleep 1
	done
	false
}
check 'after one there is' dump_of 1
check 'it tells what happened' says 0 'asked for a reset' 'npu_sim.npu.1' 'cq_create: ok'
try "$npu" coredump 0
check 'the other device has none' says 1 '0: there is no dump'
try "$npu" coredump --json npu_sim.npu.1
check 'the name of the parent will do' says 0 '"reason":"request"' '"name":"npu_sim.npu.1"'
try "$npu" coredump /dev/accel/accel1 -o "$folder/dump" --clear
check 'it can be kept' [ -s "$folder/dump" ]
try "$npu" coredump "$folder/dump"
check 'and read again' says 0 'npu_sim.npu.1'
forgotten() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		try "$npu" coredump 1
		[ "$status" -eq 0 ] || return 0
		sleep 1
	done
	false
}
check 'and the kernel forgets it' forgotten

# ---- npu reset ----

try "$npu" reset 7
check 'a device that is not there is not reset' says 1 '7: no NPU'
try su user -c "$npu reset 1"
check 'resetting needs root' says 1 'needs root'
resets() {
	cat /sys/class/accel/accel1/device/npu/resets
}
before=$(resets)
# shellcheck disable=SC2217 # the open device is what counts
sleep 1000 < /dev/accel/accel1 &
user=$!
try "$npu" reset 1
check 'a device is reset' says 0 '/dev/accel/accel1 was reset'
check 'once' equals "$(resets)" $((before + 1))
check 'it is well' equals "$(cat /sys/class/accel/accel1/device/npu/state)" up
try "$npu" reset --json npu_sim.npu.1
check 'by the name of its parent, with JSON' says 0 '{"path":"/dev/accel/accel1","reset":true}'
try "$npu" run "$module" --device 1
check 'the node is the same, and works' says 0
kill $user
wait $user 2> /dev/null

# ---- npu top ----

"$npu" run "$module" --device 1 --items 100000 > /dev/null 2>&1 &
user=$!
seen() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		try "$npu" top --json --interval 500
		! grep -q '"load":0\.[0-9]*[1-9].*"comm":"npu"' "$folder/out" || return 0
	done
	false
}
check 'top sees who works, and the load' seen
check 'of both devices' says 0 '"path":"/dev/accel/accel0"' '"path":"/dev/accel/accel1"'
check 'with temperature and power' says 0 '"millidegrees":3' '"microwatts":'
try "$npu" top --once --interval 100 1
check 'top --once prints a device and its clients' says 0 'npu_sim.npu.1' ' up ' 'load ' ' npu ' 'jobs'
check 'and no other' [ "$(grep -c accel0 "$folder/out")" -eq 0 ]
chmod 666 /dev/accel/accel1
try su user -c "$npu top --once --interval 100 1"
check 'without root it works, and shows no one else' [ "$(wc -l < "$folder/out")" -eq 1 ]
kill $user
wait $user 2> /dev/null
try "$npu" top 7
check 'a device that is not there' says 1 '7: no NPU'
try "$npu" top < /dev/null
check 'a screen needs a terminal' says 1 'no terminal'

finish
