import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { VmService } from "../test/support/vm-service.ts";

// The raw connection to a machine: the single port that QEMU forwards, to a program that only moves bytes. That program
// takes a copy of the runner's listening socket and stops the runner for that time.

const chunk = Buffer.alloc(1_000_000, "x");

const program = (move: string) => `
import ctypes, os, signal, socket, subprocess, time
pid = int(subprocess.check_output(["pgrep", "-f", "runner.mjs"]).split()[0])
listening = {line.split()[9] for name in ("tcp", "tcp6") for line in open("/proc/net/" + name) if ":1B58 " in line and " 0A " in line}
fds = [fd for fd in os.listdir(f"/proc/{pid}/fd") if os.readlink(f"/proc/{pid}/fd/{fd}")[8:-1] in listening]
# pidfd_open and pidfd_getfd
call = ctypes.CDLL(None).syscall
listener = socket.socket(fileno=call(438, call(434, pid, 0), int(fds[0]), 0))
listener.setblocking(True)
os.kill(pid, signal.SIGSTOP)
try:
    one, _ = listener.accept()
    one.setblocking(True)
    one.send(b".")
    count = 0
${move}
finally:
    listener.setblocking(False)
    os.kill(pid, signal.SIGCONT)
`;

const receive = `
    buffer, count = bytearray(262144), one.recv_into(bytearray(1))
    begun = time.monotonic()
    while (got := one.recv_into(buffer)):
        count += got
    print(count / (time.monotonic() - begun))
`;

const send = (bytes: number) => `
    data, begun = bytes(1000000), time.monotonic()
    while count < ${bytes}:
        one.sendall(data)
        count += len(data)
    one.close()
    print(count / (time.monotonic() - begun))
`;

/** Bytes per second from here into the machine, as the program there counts them. */
export async function rawUpload(service: VmService, id: string, bytes: number): Promise<number> {
  const { socket, speed } = await start(service, id, receive);
  for (let sent = 0; sent < bytes; sent += chunk.length) {
    if (!socket.write(chunk)) await once(socket, "drain");
  }
  socket.end();
  return speed;
}

/** Bytes per second out of the machine. */
export async function rawDownload(service: VmService, id: string, bytes: number): Promise<number> {
  const { socket, speed } = await start(service, id, send(bytes));
  socket.resume();
  return speed;
}

async function start(service: VmService, id: string, move: string) {
  const guest = await service.server.machines.guest(id);
  const command = `cat >/tmp/raw.py <<'END'\n${program(move)}END\npython3 /tmp/raw.py`;
  // More time than the tests allow: everything is slow on a busy machine.
  const running = guest.exec({ command, user: "root", timeoutMs: 600_000 });
  const speed = running.then(({ stdout, stderr }) => {
    if (stdout === "") throw new Error(`the program in the machine has ended: ${stderr}`);
    return Number(stdout);
  });
  speed.catch(() => {}); // Its awaiting caller gets the error.
  const { port } = await service.record(id);
  const failed = speed.then(() => Promise.reject(new Error("the program in the machine has ended")));
  failed.catch(() => {}); // It always rejects in the end.
  return { socket: await Promise.race([dial(port), failed]), speed };
}

/** Connects to the program, which sends a byte. The runner, which holds the port until then, sends nothing. */
async function dial(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    const said = await Promise.race([once(socket, "data"), sleep(1_000)]);
    if (said) return socket;
    socket.destroy();
  }
}
