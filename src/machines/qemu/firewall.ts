import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { childEnvironment } from "../../core/child-environment.ts";

/**
 * Keeps the users of machines from opening connections: each QEMU is on the host's network, where it listens on its
 * machine's port and needs nothing else. Replies to the server's connections pass: those from 127.0.0.1 on the loopback
 * device, since only the first segment of a connection has SYN without ACK. The table belongs to Berth, and is the same
 * for all servers of the host; nft replaces it in one transaction. Returns why it failed; null if it did not.
 * `onlyCheck`: changes nothing.
 */
export async function blockConnections(
  users: readonly string[],
  { onlyCheck }: { onlyCheck: boolean },
): Promise<string | null> {
  const rules = `
    add table inet berth
    delete table inet berth
    table inet berth {
      chain machines {
        type filter hook output priority filter; policy accept;
        meta skuid { ${users.join(", ")} } oifname lo ip saddr 127.0.0.1 tcp flags & (syn | ack) != syn accept
        meta skuid { ${users.join(", ")} } reject with icmpx admin-prohibited
      }
    }`;
  const child = spawn("nft", [...(onlyCheck ? ["--check"] : []), "--file", "-"], {
    env: childEnvironment,
    stdio: ["pipe", "ignore", "pipe"],
  });
  const words = text(child.stderr);
  child.stdin.on("error", () => {}); // Its exit code reports the reason.
  child.stdin.end(rules);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code === 0 ? null : (await words).trim().split("\n")[0] || `nft ended with ${code}`;
  } catch (error) {
    return (error as Error).message;
  }
}
