import { CliError } from "../errors.ts";

/** The inputs of a unit. Paths are absolute. */
export interface UnitFacts {
  /** Of the system's manager, run as root; otherwise of a user's own. */
  isSystem: boolean;
  /** The Node that runs the server, and the server's program. */
  node: string;
  program: string;
  dataFolder: string;
  /** Settings and keys; need not exist. */
  environmentFile: string;
  /** The users' home folders that the service reads: none, or those with the checkout or the data. */
  needsHome: boolean;
  /** Whether it is the Debian package's unit, which starts the unit of the guest image, too. */
  isPackaged?: boolean;
}

/** The server ends within 5 s of SIGTERM. */
const stopSeconds = 20;

/**
 * A systemd unit for the server. A system's unit is confined as far as starting machines allows; a user's unit is
 * limited to an ordinary user's manager. https://www.freedesktop.org/software/systemd/man/252/systemd.exec.html
 */
export function unitText(facts: UnitFacts): string {
  const { isSystem, node, program, dataFolder, environmentFile, isPackaged = false } = facts;
  const writer = isPackaged ? "the Debian package" : "`berth service install`";
  return `# Written by ${writer}, which replaces it. Changes belong in \`systemctl${isSystem ? "" : " --user"} edit berth\`.
[Unit]
Description=Berth, agents in virtual machines
After=network-online.target${isSystem ? " nftables.service" : ""}
Wants=network-online.target${isPackaged ? " berth-image.service" : ""}
RequiresMountsFor=${quoted(dataFolder)}
# A server that cannot start, as with a wrong setting, is not started for ever.
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart=${quoted(node, { isCommand: true })} ${quoted(program, { isCommand: true })}
WorkingDirectory=/
Environment=${quoted(`BERTH_DATA_DIR=${dataFolder}`)}
EnvironmentFile=-${environmentFile.replaceAll("%", "%%")}
# \`berth down\` stops it for good; a server that exits on its own is restarted.
Restart=on-failure
RestartSec=2
# The server ends within 5 s of SIGTERM. Only it is stopped: machines, and turns in them, continue, and the next server
# takes them over.
KillMode=process
TimeoutStopSec=${stopSeconds}
# A machine that the kernel kills when memory runs out affects nothing else.
OOMPolicy=continue
# Each machine is bounded by a control group of its own.
TasksMax=infinity
LimitNOFILE=1048576
UMask=0077
${isSystem ? systemConfinement(facts) : userConfinement}
[Install]
WantedBy=${isSystem ? "multi-user.target" : "default.target"}
`;
}

/**
 * Settings that need no privilege: a user's manager can make no mount namespaces for a service that makes its own. Without
 * RestrictSUIDSGID=, which stops bubblewrap in a system's unit as well.
 */
const userConfinement = `
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
SystemCallArchitectures=native
`;

function systemConfinement({ dataFolder, needsHome }: UnitFacts): string {
  return `
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${quoted(dataFolder)}
# Names which user id each machine has on this host: /run/berth. It outlives a server as machines do.
RuntimeDirectory=berth
RuntimeDirectoryPreserve=yes
RuntimeDirectoryMode=0700
# ${needsHome ? "The checkout or the data folder is in a home folder." : "Nothing of the service is in a home folder."}
ProtectHome=${needsHome ? "read-only" : "yes"}
PrivateTmp=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
LockPersonality=yes
RestrictRealtime=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
# Of devices, /dev/kvm alone. So no PrivateDevices=, which hides it.
DevicePolicy=closed
DeviceAllow=/dev/kvm rw
# Each machine runs in a mount, process, IPC and UTS namespace of its own, made by bubblewrap.
RestrictNamespaces=mnt pid ipc uts
# QEMU has a filter of its own (seccomp) on top of this one.
SystemCallFilter=@system-service @mount seccomp
SystemCallErrorNumber=EPERM
# Each machine gets a control group with its bounds.
ProtectControlGroups=no
# Root in the unit, with what it takes to
#   give files to the users of machines and of the database, and look after them: CHOWN DAC_OVERRIDE FOWNER
#   run programs as those users and end them: SETUID SETGID SETPCAP KILL
#   make their namespaces: SYS_ADMIN
#   keep machines from opening connections (nftables): NET_ADMIN
#   save and restore the memory of a machine: SYS_PTRACE
#   bound what they take: SYS_RESOURCE
#   listen on a port below 1024, where that is configured: NET_BIND_SERVICE
CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_SETUID CAP_SETGID CAP_SETPCAP CAP_KILL CAP_SYS_ADMIN CAP_NET_ADMIN CAP_SYS_PTRACE CAP_SYS_RESOURCE CAP_NET_BIND_SERVICE
# Left out, because it would break something:
#   User=: the server gives each machine a user of its own, which takes root. QEMU and PostgreSQL never run as root.
#   MemoryDenyWriteExecute=: Node and QEMU compile to memory.
#   RestrictSUIDSGID=: blocks openat2, without which bubblewrap 0.12 (Debian 13) makes no namespace for a machine.
#   PrivateNetwork=, IPAddressDeny=: agents reach the web through the server.
#   PrivateIPC=: a PostgreSQL that a killed server has left must be seen by the next one.
#   PrivateUsers=, ProcSubset=pid: users of machines; /proc/meminfo and the processor's load decide on new machines.
`;
}

/**
 * A word for a unit file (systemd.syntax(7)): quoted if necessary. In commands, `$` begins a variable. Throws
 * `CliError` for a word that a unit file cannot contain.
 */
function quoted(word: string, { isCommand = false } = {}): string {
  if (/\p{Cc}/u.test(word)) throw new CliError(`A unit file cannot contain this path: ${JSON.stringify(word)}`);
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%");
  const whole = isCommand ? escaped.replaceAll("$", "$$$$") : escaped;
  return /^[\w@%+=:,./-]+$/.test(whole) ? whole : `"${whole}"`;
}
