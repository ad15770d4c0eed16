# Functions over this machine's cgroups of version 1, for the cluster's shell scripts.

# The controllers' hierarchies that the kernel has now, such as `cpu,cpuacct`, and one for each that is in none.
hierarchies() {
  sed -n 's/^[1-9][0-9]*:\([a-z_,]*\):.*/\1/p' /proc/self/cgroup
  awk '$2 == 0 && $4 == 1 && $1 ~ /^(cpu|cpuacct|cpuset|memory|devices|freezer|pids|blkio)$/ { print $1 }' /proc/cgroups
}

# Mounts them all below a folder. Where a controller belongs to cgroup version 2, the kernel refuses it.
mount_cgroups() {
  mount -t tmpfs -o mode=755 tmpfs "$1"
  for each in $(hierarchies); do
    mkdir "$1/$each"
    mount -t cgroup -o "$each" cgroup "$1/$each" || {
      echo "the cgroup controller $each cannot be mounted in version 1, which Kubernetes 1.20 needs here" >&2
      return 1
    }
    for one in $(echo "$each" | tr , ' '); do [ -e "$1/$one" ] || ln -s "$each" "$1/$one"; done
  done
}

# Makes a group in each hierarchy. A new one has no processors and no memory nodes: it gets its parent's.
make_group() {
  for each in $(hierarchies); do
    group=$1/$each
    for part in $(echo "$2" | tr / ' '); do
      parent=$group
      group=$group/$part
      mkdir -p "$group"
      for file in cpuset.cpus cpuset.mems; do
        [ ! -e "$group/$file" ] || [ -n "$(cat "$group/$file")" ] || cat "$parent/$file" >"$group/$file"
      done
    done
  done
}
