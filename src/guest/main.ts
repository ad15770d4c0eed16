import { spawn } from "node:child_process";
import { timingSafeEqual } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { guestGatewayPort, guestPort, type Hello, type Welcome } from "../contract/guest.ts";
import { claudeCode } from "../runtimes/claude-code.ts";
import { controlServer } from "./control.ts";
import { Conversation } from "./conversation.ts";
import { exec } from "./exec.ts";
import { adopt, firmwareToken, type Identity, loadIdentity, startRenewer } from "./identity.ts";
import { Journals } from "./journal.ts";
import { Uplink } from "./uplink.ts";

// The runner: the one program of ours in a guest. It serves the server's connections and drives the runtime.

/** The agent's user, made with the image. */
const agent = { uid: 1000, gid: 1000, home: "/home/agent" };
const maximumHelloBytes = 1024;

let identity: Identity | null = await loadIdentity();
let token = identity?.token ?? (await firmwareToken());

const renew = startRenewer();
const journals = new Journals("/var/lib/berth/turns");
await journals.closeInterrupted();
const conversation = new Conversation(
  [claudeCode],
  { ...agent, gatewayUrl: `http://127.0.0.1:${guestGatewayPort}`, log: console.error },
  journals,
);
const uplink = new Uplink();
uplink.listen();

const control = controlServer({
  conversation,
  journals,
  health: () => ({ machineId: identity?.machineId ?? "", bootId: identity?.bootId ?? "", ...conversation.state }),
  async adopt(adoption) {
    identity = await adopt(adoption, renew);
    token = identity.token;
    take(identity);
  },
  exec: (command) => exec(command, agent),
  powerOff: () => void spawn("/bin/busybox", ["poweroff"], { stdio: "ignore" }),
});

/** In a clone the runtime runs already; in a guest that has booted it is started now, ahead of the first message. */
function take({ runtime }: Identity): void {
  conversation.choose(runtime);
  void conversation.open().catch((error: Error) => console.error(error.message));
}
if (identity) take(identity);

createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("error", () => {});
  readHello(socket, (hello) => {
    if (!hello || !sameToken(hello.token)) return socket.end(welcome({ ok: false, reason: "wrong token" }));
    socket.write(welcome({ ok: true }));
    if (hello.channel === "control") control.emit("connection", socket);
    else uplink.attach(socket);
  });
}).listen(guestPort);

/** One line; the server sends nothing more until it has been answered. */
function readHello(socket: Socket, done: (hello: Hello | null) => void): void {
  let text = "";
  const read = (chunk: Buffer) => {
    text += chunk.toString("utf8");
    if (!text.includes("\n") && text.length < maximumHelloBytes) return;
    socket.off("data", read);
    socket.pause();
    done(parseHello(text));
  };
  socket.on("data", read);
}

function parseHello(text: string): Hello | null {
  try {
    return JSON.parse(text) as Hello;
  } catch {
    return null;
  }
}

function welcome(line: Welcome): string {
  return `${JSON.stringify(line)}\n`;
}

function sameToken(offered: unknown): boolean {
  if (typeof offered !== "string") return false;
  const [mine, theirs] = [Buffer.from(token), Buffer.from(offered)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}
