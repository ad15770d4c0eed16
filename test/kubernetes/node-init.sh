#!/bin/sh
# A node's first process, in namespaces of its own: network, mounts, processes, host name. Whatever it mounts and starts
# ends with it. Arguments: the cluster's folder, the node's name, the folder of Kubernetes' programs. node.ts has
# written the node's settings before.
set -eu
cluster=$1 name=$2 programs=$3
node=$cluster/nodes/$name
export PATH="$programs:$PATH"
# shellcheck source=test/kubernetes/cgroups.sh
. "$(dirname "$0")/cgroups.sh"
. "$node/settings"

# Mounts that the kubelet makes are to reach the containers, and nobody else.
mount --make-rshared /
hostname "$name"
# The kubelet reads the list of mounts, and would find hidden ones there.
umount --recursive --lazy /sys
mount -t sysfs sysfs /sys
mount_cgroups /sys/fs/cgroup
make_group /sys/fs/cgroup "$cgroup"

# What a node keeps when it is started again, and what not.
for place in lib log; do
  mkdir -p "$node/$place"
  mount --bind "$node/$place" "/var/$place"
done
mount -t tmpfs -o mode=755 tmpfs /run

# The kubelet changes these settings of the whole machine. It gets copies.
mkdir -p "$node/sys"
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  copy=$node/sys/$(echo "$setting" | tr / -)
  cat "/proc/sys/$setting" >"$copy"
  mount --bind "$copy" "/proc/sys/$setting"
done

until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip addr add "$address/24" dev eth0
ip link set eth0 up
ip route add default via "$gateway"
while read -r range via; do ip route add "$range" via "$via"; done <"$node/routes"
# The kubelet asks for a cloud's metadata, and would wait ten seconds for an answer.
ip route add unreachable 169.254.0.0/16
echo 1 >/proc/sys/net/ipv4/ip_forward

cd /
containerd --config "$node/containerd.toml" >>"$node/containerd.log" 2>&1 &
until ctr version >/dev/null 2>&1; do sleep 0.1; done
ctr --namespace k8s.io images import "$cluster/pause.tar"
kubelet --config "$node/kubelet.json" --kubeconfig "$kubeconfig" --hostname-override "$name" \
  --node-ip "$address" --container-runtime remote \
  --container-runtime-endpoint unix:///run/containerd/containerd.sock >>"$node/kubelet.log" 2>&1 &
# The limits of connections belong to the whole machine: 0 leaves them alone.
kube-proxy --kubeconfig "$proxy_kubeconfig" --hostname-override "$name" --proxy-mode iptables \
  --cluster-cidr "$pods" --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0 \
  --conntrack-tcp-timeout-close-wait 0 >>"$node/kube-proxy.log" 2>&1 &
# It waits for the children that others leave to it, as a first process must.
exec pause
