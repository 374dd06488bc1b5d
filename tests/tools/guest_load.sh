#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs in the virtual machine, which has loaded no module of ours: npu load, list,
# info, run and unload, from a tree that is not installed and from an installed one.
# TAP on the output.
# shellcheck disable=SC2317 # functions are called through check()
npu=/npu/build/userspace/tools/npu
module=/data/fashion.npu
folder=$(mktemp -d)
unset NPU_DEVICE NPU_FIRMWARE
. tests/tools/guest_tap.sh

nodes() {
	set -- /dev/accel/accel*
	[ -e "$1" ] || shift
	echo $#
}

loaded() {
	grep -q "^$1 " /proc/modules
}

# state MODULES NODES: the modules of ours that are there, and the number of nodes
state() {
	[ "$(grep -c '^npu' /proc/modules)" -eq "$1" ] && [ "$(nodes)" -eq "$2" ]
}

search_path() {
	cat /sys/module/firmware_class/parameters/path
}

no_traces() {
	[ -z "$(search_path)" ] && ! ls /run/npu-firmware.* 2> /dev/null
}

uninstall() {
	mkdir -p /data/installed
	mv /lib/modules/*/kernel/npu.ko /lib/modules/*/kernel/npu_sim.ko /data/installed
	mv /lib/firmware/npu /data/installed/firmware
	/data/depmod
}

install_again() {
	mv /data/installed/*.ko /lib/modules/*/kernel/
	mv /data/installed/firmware /lib/firmware/npu
	/data/depmod
	mkdir /data/tree
	mv /npu/npu.ko /npu/npu_sim.ko /data/tree
}

# ---- refusals ----

uninstall
cp /npu/npu.ko /data/npu.ko.whole
try su user -c "$npu load --sim 1"
check 'loading needs root' says 1 'needs root'
check 'and loads nothing' state 0 0
try "$npu" load --from /nosuch
check 'an absent folder is named' says 1 '/nosuch/npu.ko: No such file'
mkdir /data/bad
echo 'no module' > /data/bad/npu.ko
try "$npu" load --from /data/bad
check 'what is no module is refused' says 1 '/data/bad/npu.ko'
cp /data/npu.ko.whole /data/bad/npu.ko
head -c 5000 /npu/npu_sim.ko > /data/bad/npu_sim.ko
try "$npu" load --from /data/bad --sim 1
check 'half a module is refused' says 1 '/data/bad/npu_sim.ko' 'unloaded npu'
check 'the driver is taken back' state 0 0
NPU_FIRMWARE=/nosuch try "$npu" load --sim 1
check 'absent firmware is named' says 1 '/nosuch: No such file'
check 'nothing was loaded' state 0 0
NPU_FIRMWARE=$module try "$npu" load --sim 2
check 'devices that do not come up are an error' says 1 'of 2 devices 0 came up' 'unloaded npu_sim'
check 'and are taken back' state 0 0
check 'the search path of firmware is restored' no_traces
try "$npu" list
check 'no device is no error' says 0 'npu load --sim 1'
try "$npu" list --json
check 'but an empty array' says 0 '[]'
try "$npu" info
check 'info says that the driver is not loaded' says 1 'not loaded'
try "$npu" unload
check 'unloading nothing says so' says 0 'nothing is loaded'

try "$npu" doctor
check 'the doctor misses the driver' says 1 'neither loaded nor installed' 'make install KVER='

# ---- a tree that is not installed ----

try "$npu" load --sim 3
check 'load --sim 3 from the tree' says 0 'loaded npu' 'loaded npu_sim devices=3'
check 'makes three nodes' state 2 3
check 'leaves the search path of firmware alone' no_traces
try "$npu" list --json
check 'list knows three devices' [ "$(grep -o '"path"' "$folder/out" | wc -l)" -eq 3 ]
check 'by path, parent and firmware' says 0 '"path":"/dev/accel/accel2"' '"firmware":"' '"parent":"'
check 'none with an error' [ "$(grep -c '"error"' "$folder/out")" -eq 0 ]
check 'each with an id of its own' \
	[ "$(grep -o '"uuid":"[^"]*"' "$folder/out" | sort -u | wc -l)" -eq 3 ]
try "$npu" list
check 'the table has them, too' [ "$(grep -c '^/dev/accel/accel' "$folder/out")" -eq 3 ]
try "$npu" info --json
check 'info takes the first device' says 0 '"path":"/dev/accel/accel0"' '"backend":"accel"'
try "$npu" info 2
check 'or one by its number' says 0 '/dev/accel/accel2'
try "$npu" info 7
check 'if there is one' says 1 'accel7'

# ---- the doctor ----

try "$npu" doctor --test
check 'the doctor finds nothing that fails' says 0 ' 0 failed' 'npu.ko is loaded'
check 'tests each device' says 0 '/dev/accel/accel0: a job of' '/dev/accel/accel2: a job of'
check 'and the device model' says 0 'sim: a job of'
try su user -c "$npu doctor"
check 'who may not open a device is told so' says 1 'no permission to open /dev/accel/accel0' \
	'70-npu.rules'
chgrp render /dev/accel/accel0
chmod 660 /dev/accel/accel0
try su user -c "$npu doctor"
check 'and of a group, where there is one' says 1 'usermod -aG'
chgrp 0 /dev/accel/accel0
chmod 600 /dev/accel/accel0
mv /dev/accel/accel1 /dev/accel/away
try "$npu" doctor
check 'a node that is not there is named' says 1 '/dev/accel/accel1 does not exist' 'udev'
mv /dev/accel/away /dev/accel/accel1
try "$npu" doctor
check 'and is well when it is back' says 0 ' 0 failed'

# ---- the same results as the device inside the process ----

cycles() {
	sed 's/.*"items":[0-9]*,"cycles":\([0-9]*\).*/\1/' "$1"
}

# run DEVICE NAME: outputs to NAME, the report to NAME.json
run() {
	try "$npu" run "$module" --device "$1" --items 4 --seed 3 -o "$folder/$2" --json
	cp "$folder/out" "$folder/$2.json"
	says 0
}

same_cycles() {
	[ -n "$(cycles "$folder/$1.json")" ] &&
		[ "$(cycles "$folder/$1.json")" -gt 0 ] &&
		[ "$(cycles "$folder/$1.json")" = "$(cycles "$folder/$2.json")" ]
}

check 'a module runs inside the process' run sim sim
check 'and on a device of the driver' run /dev/accel/accel0 accel0
check 'with the same bytes' cmp "$folder/sim" "$folder/accel0"
check 'and the same cycles' same_cycles sim accel0
check 'on another device, too' run 2 accel2
check 'with the same bytes there' cmp "$folder/sim" "$folder/accel2"
check 'and the same cycles there' same_cycles sim accel2
NPU_DEVICE=/dev/accel/accel1 try "$npu" run "$module" --json
check 'NPU_DEVICE chooses the device' says 0 '"device":"/dev/accel/accel1"'

# ---- loading twice, unloading ----

try "$npu" load
check 'loading the driver twice says so' says 0 'npu is loaded already'
try "$npu" load --sim 2
check 'simulated devices are not made twice' says 1 'npu_sim is loaded already' 'npu unload'
check 'those that exist stay' state 2 3
# shellcheck disable=SC2217 # the open device is what counts
sleep 1000 < /dev/accel/accel1 &
user=$!
try "$npu" unload
check 'a device in use is not unloaded' says 1 'in use' 'nothing was unloaded'
check 'nor are the others' state 2 3
kill $user
wait $user 2> /dev/null
try su user -c "$npu unload"
check 'unloading needs root' says 1 'needs root'
try "$npu" unload
check 'unload' says 0 'unloaded npu_sim' 'unloaded npu'
check 'nothing of ours is left' state 0 0
check 'what the driver needed stays' loaded drm_shmem_helper
try "$npu" load
check 'the driver alone' says 0 'loaded npu'
check 'brings no device' state 1 0
try "$npu" info
check 'info says that there is none' says 1 'no device'
try "$npu" load --sim 16
check 'devices can come later' says 0 'npu is loaded already' 'loaded npu_sim devices=16'
check 'as many as asked for' state 2 16
try "$npu" unload
check 'and go again' state 0 0

# ---- installed modules ----

install_again
try "$npu" load --sim 2
check 'load installed modules' says 0 'loaded npu_sim devices=2'
check 'two nodes' state 2 2
check 'a module runs there' run 1 installed
check 'with the same bytes as before' cmp "$folder/sim" "$folder/installed"
try "$npu" unload
check 'unload installed modules' says 0 'unloaded npu'
rm /lib/modules/*/kernel/npu.ko /lib/modules/*/kernel/npu_sim.ko
/data/depmod
try "$npu" load
check 'modules that are nowhere' says 1 'not installed' '--from'
try "$npu" load --from /data/tree
check 'are found where --from says' says 0 'loaded npu'
try "$npu" unload
check 'and unloaded' state 0 0

finish
