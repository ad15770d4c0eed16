# Runs in the machine, as its root: mounts the host's folders, loads KVM and runs `program` in the checkout.

mkdir -p /dev/shm /berth /run/checkout /run/changes
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -o noatime /dev/vdb /var/tmp
chmod 1777 /tmp /var/tmp
# A killed run's folders.
rm -rf /var/tmp/berth-test-[0-9]*
ip link set lo up
hostname berth-kvm

mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro checkout /run/checkout
mount -t tmpfs tmpfs /run/changes
mkdir /run/changes/upper /run/changes/work
modprobe overlay
mount -t overlay -o lowerdir=/run/checkout,upperdir=/run/changes/upper,workdir=/run/changes/work overlay /berth

# On the disk of the data folders, which then link to it.
image=/var/tmp/images/$(basename "$(cat /berth/image/.built)")
if [ ! -d "$image" ]; then
  rm -rf /var/tmp/images
  mkdir -p /var/tmp/images/partial
  tar --sparse -xf /dev/vdc -C /var/tmp/images/partial
  mv "/var/tmp/images/partial/$(basename "$image")" "$image"
fi
echo "$image" >/berth/image/.built

modprobe kvm_amd
# Without udev the device is root's alone.
chgrp kvm /dev/kvm
chmod 0660 /dev/kvm

cd /berth
# `CI` keeps Vitest from redrawing its output.
export PATH=/berth/node_modules/.bin:$PATH BERTH_TEST_ACCEL=kvm CI=1
status=0
sh /exchange/program || status=$?
cd /
umount /var/tmp
exit $status
