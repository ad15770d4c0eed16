#!/bin/sh
# Removes the cgroups of the cluster $1. Without an argument, those of all clusters whose test run is gone: its process id
# is in their names. Runs in a mount namespace of its own.
set -eu
# shellcheck source=test/kubernetes/cgroups.sh
. "$(dirname "$0")/cgroups.sh"
mount_cgroups /sys/fs/cgroup

abandoned() {
  find /sys/fs/cgroup/ -mindepth 2 -maxdepth 2 -type d -name 'berth-test-*' | sed 's,.*/,,' | sort -u | while read -r cluster; do
    pid=$(echo "$cluster" | cut -d - -f 3)
    [ -e "/proc/$pid" ] || echo "$cluster"
  done
}

for cluster in ${1:-$(abandoned)}; do
  for each in $(hierarchies); do
    group=/sys/fs/cgroup/$each/$cluster
    # Processes that were killed may leave it a moment later.
    for _ in $(seq 50); do
      [ -d "$group" ] || break
      find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.2
    done
    [ ! -d "$group" ] || {
      echo "the cgroup $group is in use" >&2
      exit 1
    }
  done
done
