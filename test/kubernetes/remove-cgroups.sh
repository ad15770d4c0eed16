#!/bin/sh
# Removes the cgroup $1 and those below it, in each hierarchy. Processes that were killed may leave them a moment later.
# Runs in a mount namespace of its own.
set -eu
# shellcheck source=test/kubernetes/cgroups.sh
. "$(dirname "$0")/cgroups.sh"
mount_cgroups /sys/fs/cgroup
for each in $(hierarchies); do
  group=/sys/fs/cgroup/$each/$1
  for attempt in $(seq 50); do
    [ -d "$group" ] || break
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.2
  done
  [ ! -d "$group" ] || {
    echo "$group is in use after $attempt attempts" >&2
    exit 1
  }
done
