#!/bin/sh
# Makes the file system of what is the service's in a machine. Arguments: the folder that holds it all, the file to make.
set -eu
services=$1 file=$2
PATH=$PATH:/usr/sbin
# What `npm install -g` installs is the agent's.
echo 'prefix = /usr/local' >"$services/node_modules/npm/npmrc"
kib=$(du -sk "$services" | cut -f 1)
# A tenth more for its inodes. Without a journal: nothing ever writes to it.
mke2fs -q -t ext4 -O ^has_journal -d "$services" -L berth-services -m 0 -E root_owner=0:0 "$file" "$((kib * 11 / 10 + 8192))k"
