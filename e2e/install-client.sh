#!/bin/sh
# Installs the Copilot CLI that the e2e tests drive into e2e/node_modules, unless one is there or named already.
set -eu
cd "$(dirname "$0")"
version=1.0.102

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
