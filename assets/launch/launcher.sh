#!/bin/sh
# Starts the program of this file's name from the folder <os>-<arch> beside it. Where none fits, it says nothing and
# exits 0: a hook that fails may deny a tool. Linux says what it is in /proc, without a process for uname.
if read -r os </proc/sys/kernel/ostype && read -r arch </proc/sys/kernel/arch; then
  system="$os $arch"
else
  system=$(uname -sm)
fi 2>/dev/null
end=
case $system in
'Linux x86_64') target=linux-amd64 ;;
'Linux aarch64' | 'Linux arm64') target=linux-arm64 ;;
'Darwin x86_64') target=darwin-amd64 ;;
'Darwin arm64') target=darwin-arm64 ;;
MINGW*' x86_64' | MSYS*' x86_64' | CYGWIN*' x86_64') target=windows-amd64 end=.exe ;;
MINGW*' aarch64' | MSYS*' aarch64' | CYGWIN*' aarch64') target=windows-arm64 end=.exe ;;
*) exit 0 ;;
esac
case $0 in
*/*) dir=${0%/*} ;;
*) dir=. ;;
esac
program=$dir/$target/${0##*/}$end
[ -f "$program" ] && [ -x "$program" ] || exit 0
exec "$program" "$@"
