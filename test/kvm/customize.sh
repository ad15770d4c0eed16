#!/bin/sh
# Called by mmdebstrap with the new root file system: makes of it the disk that test/kvm/machine.ts boots, with Berth's
# packages and users. Arguments: the root, the repository, the folder for results, the disk's size in GiB.
set -eu
root=$1 repository=$2 out=$3 size=$4

cp "$repository/scripts/setup" "$root/tmp/setup"
chroot "$root" sh /tmp/setup --yes
install -m 0755 "$repository/test/kvm/init" "$root/sbin/berth-kvm"
mkdir "$root/exchange"

# The kernel has the drivers of microvm's disks as modules.
echo MODULES=list >"$root/etc/initramfs-tools/conf.d/berth"
printf 'virtio_mmio\nvirtio_blk\next4\n' >>"$root/etc/initramfs-tools/modules"
chroot "$root" update-initramfs -u
cp "$root"/boot/vmlinuz-* "$out/vmlinuz"
cp "$root"/boot/initrd.img-* "$out/initrd.img"
rm -rf "$root"/tmp/* "$root"/var/cache/apt/archives/*.deb
truncate -s "${size}G" "$out/disk.img"
# Without the file systems that mmdebstrap has mounted in it.
mkdir "$out/root"
mount --bind "$root" "$out/root"
mkfs.ext4 -q -d "$out/root" "$out/disk.img"
umount "$out/root"
rmdir "$out/root"
