import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Berth, type CommandEvent, outputBytes, type Terminal } from "@berth/client";
import xterm from "@xterm/headless";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { newAccount, newKey } from "../support/accounts.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ScriptedTerminal } from "../support/scripted-terminal.ts";
import { TcpRelay } from "../support/tcp-relay.ts";

// Terminals over WebSockets: real shells on real pseudo-terminals, as processes of the scripted machine.

let service: ScriptedService;
let relay: TcpRelay;
let berth: Berth;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  relay = await TcpRelay.start(Number(new URL(service.client.url).port));
  berth = new Berth({ url: relay.url, key: service.client.key });
});
afterAll(async () => {
  relay[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

/** A terminal whose events are read, and all that it has shown. */
class Shown {
  readonly terminal: Terminal;
  text = "";
  readonly over: Promise<CommandEvent | null>;
  readonly #leave = new AbortController();

  constructor(agent: string, options: { session?: string; client?: Berth } = {}) {
    const { client = berth, ...rest } = options;
    this.terminal = client.agent(agent).terminal({ ...rest, signal: this.#leave.signal });
    this.over = this.#read().catch(() => null);
  }

  async #read(): Promise<CommandEvent | null> {
    for await (const event of this.terminal) {
      this.text += Buffer.from(outputBytes(event)).toString();
      if (event.type === "command.exited") return event;
    }
    return null;
  }

  async shows(expected: string | RegExp): Promise<void> {
    await expect.poll(() => this.text).toMatch(expected);
  }

  async leave(): Promise<void> {
    this.#leave.abort();
    await this.over;
  }
}

/** A socket as any program would open it. Resolves with the refusal's status instead of a socket. */
async function open(path: string, headers: Record<string, string> = {}): Promise<WebSocket | number> {
  const socket = new WebSocket(service.client.url.replace("http", "ws") + path, { headers });
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_, { statusCode }) => {
      socket.once("error", () => {});
      socket.terminate();
      resolve(statusCode!);
    });
    socket.once("error", reject);
  });
}

const authorization = () => ({ authorization: `Bearer ${service.client.key}` });

async function ticket(agent = "ada"): Promise<string> {
  const { status, body } = await service.client.call("POST", `/agents/${agent}/tickets`, { for: "terminal" });
  expect(status).toBe(201);
  return body.ticket;
}

test("a shell runs on a terminal of that size, which can be changed", async () => {
  const shown = new Shown("ada");
  shown.terminal.write("stty size; tty; echo $TERM\r");
  await shown.shows(/24 80\r\n\/dev\/pts\/\d+\r\nxterm-256color/);
  shown.terminal.resize(120, 40);
  shown.terminal.write("stty size\r");
  await shown.shows(/40 120/);
  shown.terminal.write("exit 4\r");
  expect(await shown.over).toMatchObject({ type: "command.exited", exitCode: 4 });
});

test("several see one session, and who comes later is shown what was before", async () => {
  const first = new Shown("ada");
  first.terminal.write("echo fir''st\r");
  await first.shows("first");
  const second = new Shown("ada", { session: first.terminal.session! });
  await second.shows("first");
  second.terminal.write("echo sec''ond\r");
  await Promise.all([first.shows("second"), second.shows("second")]);
  await second.leave();
  first.terminal.write("exit\r");
  expect(await first.over).toMatchObject({ exitCode: 0 });
});

test("a viewer that comes later is shown at least 256 KiB, and its terminal answers no query of before", async () => {
  const first = new Shown("ada");
  first.terminal.write(
    "stty -echo; PS1=; seq -f 'line %.0f of a long output' 20000; printf '\\e[6n\\e[c\\e[?1h'; echo rea''dy\r",
  );
  await first.shows("ready");
  const screen = new xterm.Terminal({ allowProposedApi: true, scrollback: 20_000 });
  const second = new Shown("ada", { session: first.terminal.session! });
  screen.onData((answer) => second.terminal.write(answer));
  await second.shows("ready");
  expect(second.text.length).toBeGreaterThanOrEqual(256 * 1024 - "\x1b[6n\x1b[c".length);
  expect(second.text.slice(0, 30)).toMatch(/^[\w\r\n ]+$/);
  expect(first.text.replace("\x1b[6n\x1b[c", "")).toContain(second.text);
  await new Promise<void>((resolve) => screen.write(second.text, resolve));
  expect(screen.modes.applicationCursorKeysMode).toBe(true);
  // An answer would be read before this line.
  second.terminal.write("read -rp 'ty''pe: ' typed; echo \"it read <$typed>\"\r");
  await second.shows("type: ");
  second.terminal.write("mine\r");
  await second.shows("it read <mine>");
  await second.leave();
  first.terminal.write("exit\r");
  await first.over;
});

test("input over a broken connection is read once, and no output is lost", {
  timeout: 60_000,
}, async () => {
  const shown = new Shown("ada");
  await expect.poll(() => shown.terminal.session).not.toBe(null);
  // Input that is typed before the shell has left the terminal to the command is read by the shell's own rules.
  shown.terminal.write("stty -echo; echo rea''dy; cat > typed.txt\r");
  await shown.shows("ready");
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`);
  for (const [index, line] of lines.entries()) {
    shown.terminal.write(`${line}\r`);
    if (index % 20 === 10) {
      relay.cut();
      const machine = service.driver.running[0]!;
      service.driver.disconnect(machine);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  shown.terminal.write("\x04");
  shown.terminal.write("stty echo; cat typed.txt; echo the'' end\r");
  await shown.shows("the end");
  expect(shown.text.slice(-4_000)).toContain(lines.map((line) => `${line}\r\n`).join(""));
  shown.terminal.write("exit\r");
  await shown.over;
});

test("a terminal survives a new server", { timeout: 60_000 }, async () => {
  await service.client.createAgent("bea");
  const shown = new Shown("bea");
  shown.terminal.write("A=kept\r");
  await shown.shows("A=kept");
  await service.restart(async () => shown.terminal.write("echo $A while it was away\r"));
  relay.target = Number(new URL(service.client.url).port);
  await shown.shows("kept while it was away");
  shown.terminal.write("exit\r");
  expect(await shown.over).toMatchObject({ exitCode: 0 });
});

test("an open terminal lets the machine sleep, and the next key wakes it with the shell as it was", async () => {
  await service.client.createAgent("sleepy");
  const shown = new Shown("sleepy");
  shown.terminal.write("A=kept\r");
  await shown.shows("A=kept");
  const statusOf = async () => (await service.client.call("GET", "/agents/sleepy")).body.status;
  expect((await service.client.call("POST", "/agents/sleepy/suspend")).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await statusOf()).toBe("suspended");
  shown.terminal.write("echo $A over the sleep\r");
  await shown.shows("kept over the sleep");
  expect(await statusOf()).toBe("ready");
  shown.terminal.write("exit\r");
  await shown.over;
});

test("a ticket opens one socket of one agent", async () => {
  const good = await ticket();
  const socket = await open(`/agents/ada/terminal?ticket=${good}`);
  expect(socket).toBeInstanceOf(WebSocket);
  (socket as WebSocket).close();
  expect(await open(`/agents/ada/terminal?ticket=${good}`)).toBe(401);
  expect(await open(`/agents/bea/terminal?ticket=${await ticket()}`)).toBe(403);
  expect(await open("/agents/ada/terminal?ticket=nonsense")).toBe(401);
  expect(await open("/agents/ada/terminal")).toBe(401);
  const key = await newKey(service.client, { kind: "agent", agents: ["ada"] });
  expect((await key.call("POST", "/agents/ada/tickets", { for: "terminal" })).status).toBe(403);
  expect((await service.client.call("POST", "/agents/ada/tickets", { for: "all" })).status).toBe(400);
  // It opens nothing else.
  const other = await fetch(`${service.client.url}/agents/ada?ticket=${await ticket()}`);
  expect(other.status).toBe(401);
});

test("forbidden requests are refused before the socket opens", async () => {
  expect(await open("/agents/ada/terminal", { ...authorization(), origin: "https://evil.example" })).toBe(403);
  const own = await open("/agents/ada/terminal", { ...authorization(), origin: service.client.url });
  (own as WebSocket).close();
  expect(await open("/agents/nobody/terminal", authorization())).toBe(404);
  expect(await open(`/agents/ada/terminal?session=${randomUUID()}`, authorization())).toBe(404);
  expect(await open("/agents/ada/terminal?cols=0", authorization())).toBe(400);
  const stranger = await newAccount(service);
  expect(await open("/agents/ada/terminal", { authorization: `Bearer ${stranger.key}` })).toBe(404);
  const plain = await service.client.call("GET", "/agents/ada/terminal");
  expect(plain.body).toMatchObject({ statusCode: 426, code: "upgrade_required" });
  expect(await open("/agents/ada", authorization())).toBe(400);
});

test("an invalid frame is reported, and the session continues", async () => {
  const socket = (await open("/agents/ada/terminal", authorization())) as WebSocket;
  const frames: { type: string; code?: string }[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  for (const bad of ["nonsense", "[]", '{"type":"input","text":1}', '{"type":"resize","cols":0,"rows":1}'])
    socket.send(bad);
  await expect.poll(() => frames.filter(({ type }) => type === "error").length).toBe(4);
  socket.send(JSON.stringify({ type: "input", text: "exit 9\r" }));
  const [code] = await once(socket, "close");
  expect(code).toBe(1000);
  expect(frames.at(-1)).toMatchObject({ type: "command.exited", exitCode: 9 });
});

test("opening a terminal is in the audit log", async () => {
  const { data } = (await service.client.call("GET", "/audit?agent=sleepy")).body;
  expect(data).toContainEqual(expect.objectContaining({ operation: "GET /agents/{name}/terminal", status: 101 }));
});

test("the tool's terminal is the machine's", { timeout: 60_000 }, async () => {
  const launcher = fileURLToPath(new URL("../../berth", import.meta.url));
  const environment = { BERTH_URL: service.client.url, BERTH_API_KEY: service.client.key };
  await using tool = await ScriptedTerminal.run(["terminal", "ada"], environment, { program: launcher });
  tool.type("stty size; echo he''re\r");
  await tool.shows(/24 80\nhere/);
  tool.resize(100, 30);
  const asked = () => {
    tool.type("clear; stty size\r");
    return tool.screen();
  };
  await expect.poll(asked, { interval: 500 }).toContain("30 100");
  // It reports itself from within its own foreground group, which Ctrl-C then ends.
  tool.type("bash -c \"echo is''running; exec sleep 1000\"\r");
  await tool.shows("isrunning");
  tool.type("\x03");
  tool.type("exit 6\r");
  expect(await tool.exited).toBe(6);
  await using exec = await ScriptedTerminal.run(["exec", "-t", "ada", "--", "stty", "size"], environment, {
    program: launcher,
  });
  await exec.shows("24 80");
  expect(await exec.exited).toBe(0);
});
