#!/bin/sh
# Removes the cgroups below the group $1, which no process is in any more. Runs in a mount namespace of its own.
set -eu
# shellcheck source=test/kubernetes/cgroups.sh
. "$(dirname "$0")/cgroups.sh"
mount_cgroups /sys/fs/cgroup
for each in $(hierarchies); do
  [ ! -d "/sys/fs/cgroup/$each/$1" ] || find "/sys/fs/cgroup/$each/$1" -depth -type d -exec rmdir {} +
done
