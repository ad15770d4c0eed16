#!/bin/sh
# Called by mmdebstrap with the new root file system, inside its (perhaps fake) root: makes of it the guest's
# disk, kernel and initial RAM disk. Arguments: the root, the recipe's folder, the folder in which the runtimes are being
# installed, the folder for results, the disk's size in GiB.
set -eu
umask 022
root=$1 recipe=$2 runtimes=$3 out=$4 size=$5
. "$recipe/processor.sh"

step() { printf 'berth-step %s\n' "$1"; }

step 'kernel'
kernel=$(chroot "$root" apt-cache depends "$kernel_package" | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
mkdir "$root/tmp/kernel"
chroot "$root" sh -c "cd /tmp/kernel && apt-get -qq download -o APT::Sandbox::User=root $kernel"
dpkg-deb -x "$root"/tmp/kernel/*.deb "$root/tmp/kernel/tree"
cp "$root"/tmp/kernel/tree/boot/vmlinuz-* "$out/vmlinuz"
mkdir -p "$root/usr/lib/modules"
cp -a "$root"/tmp/kernel/tree/lib/modules/. "$root/usr/lib/modules/"
rm -r "$root/tmp/kernel"
version=$(ls "$root/usr/lib/modules")
chroot "$root" depmod "$version"

step 'initial RAM disk'
ram=$out/ram
mkdir -p "$ram/bin" "$ram/dev" "$ram/proc" "$ram/sys" "$ram/root" "$ram/modules"
cp "$root/bin/busybox" "$ram/bin/busybox"
cp "$recipe/initrd/init" "$ram/init"
for module in virtio_mmio virtio_blk virtio_net qemu_fw_cfg; do
  chroot "$root" modprobe --show-depends --set-version "$version" "$module"
done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r file; do
  cp "$root$file" "$ram/modules/"
  basename "$file" >>"$ram/modules/order"
done
(cd "$ram" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 >"$out/initrd-base.img")
rm -r "$ram"

# What is the service's, not the agent's, is a file system of its own, which each machine is given read-only: an upgrade
# replaces it and leaves the agent's disk alone. The initial RAM disk mounts it over what the disk has there.
services=$out/services
mkdir -p "$services/modules"
mv "$root"/usr/lib/modules/* "$services/modules/"

step 'disk'
cp -a --no-preserve=ownership "$recipe/rootfs/." "$root/"
mv "$root/usr/lib/berth" "$services/system"
ln -s "/opt/berth/node_modules/$node/bin/node" "$services/system/node"
mkdir -p "$root/usr/lib/berth" "$root/opt/berth"
chmod 0440 "$root/etc/sudoers.d/agent"
# A name of a runtime that an image lacks leads nowhere.
for name in npm npx openclaw pi gemini; do
  ln -s "/opt/berth/node_modules/.bin/$name" "$root/usr/local/bin/$name"
done
ln -s "/opt/berth/node_modules/$node/bin/node" "$root/usr/local/bin/node"
ln -s "/opt/berth/node_modules/$opencode/bin/opencode" "$root/usr/local/bin/opencode"
ln -s "/opt/berth/node_modules/$claude/claude" "$root/usr/local/bin/claude"
ln -s "/opt/berth/node_modules/$codex" "$root/usr/local/bin/codex"
# Each login shell would start a program to learn what bash knows.
sed -i 's/\$(id -u)/${EUID:-$(id -u)}/' "$root/etc/profile"
chroot "$root" useradd --create-home --uid 1000 --user-group --shell /bin/bash agent
# Without a password, but not locked: sshd refuses whom `!` locks.
chroot "$root" usermod --password '*' agent
chroot "$root" usermod --password '*' root
# Each machine makes its own.
rm -f "$root"/etc/ssh/ssh_host_*
echo agent >"$root/etc/hostname"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
: >"$root/etc/resolv.conf"
# Each machine is given its own id by its server; one in the image would make twins of them.
: >"$root/etc/machine-id"
rm -f "$root/var/lib/dbus/machine-id"
sed -i '/^force-unsafe-io$/d' "$root/etc/dpkg/dpkg.cfg.d/99mmdebstrap"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/tmp/* "$root"/var/log/*.log

make_services() {
  until [ -s "$runtimes/result" ]; do sleep 0.2; done
  if [ "$(cat "$runtimes/result")" != done ]; then
    echo 'the runtimes could not be installed'
    exit 1
  fi
  # Only root's own files have the right owner without being copied.
  if [ "$(stat -c %u "$runtimes")" = 0 ]; then take='mv'; else take='cp -a --no-preserve=ownership'; fi
  $take "$runtimes/node_modules" "$services/"
  sh "$recipe/services.sh" "$services" "$out/services.img"
}
# Each file system takes one processor.
make_services &
services_made=$!

# A bind mount shows the root without what the package tools have mounted into it while they work.
bare=$out/bare
mkdir "$bare"
mount --bind "$root" "$bare"
mke2fs -q -t ext4 -d "$bare" -L berth -m 1 -E lazy_itable_init=1,lazy_journal_init=1 "$out/rootfs.img" "${size}G"
umount "$bare"
rmdir "$bare"
step 'runtimes'
wait "$services_made"
du -smc "$services" "$root" | tail -n 1 | cut -f 1 >"$out/size-mib"
rm -r "$services"
