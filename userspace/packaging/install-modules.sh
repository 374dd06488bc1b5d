#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds the modules for one kernel and puts them where it looks, below DESTDIR.
# usage: install-modules.sh KDIR DESTDIR
set -eu
cd "$(dirname "$0")/../.."

root=$2
case $root in
'' | /*) ;;
*) root=$PWD/$root ;;
esac

tests/vm/kbuild "$1" modules
# The key that the kernel's makers sign with is not here; npu(4) says how to sign with another.
tests/vm/kbuild "$1" modules_install INSTALL_MOD_PATH="$root" CONFIG_MODULE_SIG_ALL=
