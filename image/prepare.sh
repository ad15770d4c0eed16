#!/bin/sh
# Prepares the installed runtimes for OpenClaw: at the paths that they have in a machine, as a user with the agent's id,
# without a network. Arguments: the program that prepare.ts is bundled to,
# the package with Node.
set -eu
packages=/opt/berth/node_modules
node=$packages/$2/bin/node
# OpenClaw gives a worker thread five seconds to start and a minute for a task, and refuses to run or ends a turn when that
# takes longer, which it does under software emulation ("state lease heartbeat did not become ready", "worker task timed
# out"). No setting changes it.
lengthen() {
  files=$(grep -rlE "$1" "$packages/openclaw/dist") || { echo "openclaw has changed: no $1"; exit 1; }
  printf '%s\n' "$files" | xargs sed -i -E "s/$1/$2/"
}
lengthen 'LEASE_HEARTBEAT_START_TIMEOUT_MS = 5e3;' 'LEASE_HEARTBEAT_START_TIMEOUT_MS = 3e5;'
lengthen '(["`]timeout["`]\)\), ?resolveTimerTimeoutMs)\(([A-Za-z]+), ?6e4\)' '\1(\2 * 10, 6e5)'
lengthen '(const deadline = performance\.now\(\) \+) 6e4;' '\1 6e5;'
# It ends workers that had nothing to do for a minute. They read all their code again in the next turn, which then takes two
# minutes under emulation in place of half of one.
lengthen '(idleTimeoutMs ?\?\? ?)6e4' '\12e9'
lengthen '(IDLE_EXECUTION_MS ?= ?)6e4' '\12e9'
lengthen '(SHARED_STATE_WORKER_IDLE_INSPECT_MS ?= ?)6e4' '\12e9'
# Its install scripts have not run. It makes up for them where it may write to its own folder, which the agent's user may
# not.
$node $packages/openclaw/openclaw.mjs --version >/dev/null
exec $node "$1"
