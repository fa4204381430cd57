#!/bin/bash
# A hook as users write it with bash and jq, for comparison: FILE is where it leaves what it made of the event on stdin.
file=$1
state=$2
input=$(cat)
input=$(printf '%s' "$input" | sed 's/\x1b\[[0-9;]*[a-zA-Z]//g')
printf '%s' "$input" | jq -e . >/dev/null 2>&1 || exit 0
cwd=$(printf '%s' "$input" | jq -r '.cwd // ""')
millis=$(printf '%s' "$input" | jq -r '.timestamp // 0')
tool=$(printf '%s' "$input" | jq -r '.toolName // ""')
args=$(printf '%s' "$input" | jq -r '.toolArgs // "" | if type == "string" then . else tojson end')
when=$(date -u -d "@$((millis / 1000))" +%Y-%m-%dT%H:%M:%SZ)
key=$(printf '%s' "$cwd" | md5sum | cut -d' ' -f1)
[ -f "$state/$key" ] || printf 'session-%s' "$key" >"$state/$key"
session=$(cat "$state/$key")
printf '%s' "$args" | jq -e . >/dev/null 2>&1 || args=$(printf '%s' "$args" | jq -Rs .)
args=$(printf '%s' "$args" | jq -c 'walk(if type == "object" then with_entries(select(.key | test("token|secret|password|api_?key"; "i") | not)) else . end)')
payload=$(jq -cn --arg session "$session" --arg when "$when" --arg cwd "$cwd" --arg tool "$tool" --rawfile args <(printf '%s' "$args") \
	'{session: $session, time: $when, cwd: $cwd, tool: $tool, args: $args}')
printf '%s\n' "$payload" | cat >>"$file" 2>/dev/null &
exit 0
