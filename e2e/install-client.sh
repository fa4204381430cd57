#!/bin/sh
# Installs the Copilot CLI that the e2e tests drive into e2e/node_modules, unless one is there or named already, and
# Claude Code, whose validator sees the bundles, where that can be had.
set -eu
cd "$(dirname "$0")"
version=1.0.102
claude=2.1.197

if [ -n "${COPILOT_BIN:-}" ]; then
  echo "client: COPILOT_BIN=$COPILOT_BIN"
elif command -v copilot >/dev/null 2>&1; then
  echo "client: $(command -v copilot)"
elif [ -x node_modules/.bin/copilot ]; then
  echo "client: $PWD/node_modules/.bin/copilot"
elif command -v npm >/dev/null 2>&1; then
  npm install --no-save --no-audit --no-fund --prefix . "@github/copilot@$version"
  echo "client: $PWD/node_modules/.bin/copilot"
else
  echo "e2e/install-client.sh: npm is missing; install Node.js or set COPILOT_BIN" >&2
  exit 1
fi

# npm takes away what it is not asked for: a client that is in the folder is named again.
install_claude() {
  set -- "@anthropic-ai/claude-code@$claude"
  [ ! -d node_modules/@github/copilot ] || set -- "$@" "@github/copilot@$version"
  npm install --no-save --no-audit --no-fund --prefix . "$@"
}

if [ -n "${CLAUDE_BIN:-}" ] || command -v claude >/dev/null 2>&1; then
  echo "claude: ${CLAUDE_BIN:-$(command -v claude)}"
elif [ -x node_modules/.bin/claude ]; then
  echo "claude: $PWD/node_modules/.bin/claude"
elif install_claude; then
  echo "claude: $PWD/node_modules/.bin/claude"
else
  echo "claude: NOT INSTALLED (npm could not fetch it): its validator will not see the bundles" >&2
fi
