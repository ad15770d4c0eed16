import { once } from "node:events";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Berth, type CommandEvent, outputBytes } from "@berth/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomOf } from "../support/random.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { TcpRelay } from "../support/tcp-relay.ts";

// An owner's work in the machine, while connections break at random, the server stops and the machine sleeps.

const seed = Number(process.env.BERTH_TEST_SEED ?? Date.now() % 1_000_000);
const random = randomOf(seed);

let service: ScriptedService;
let relay: TcpRelay;
let berth: Berth;
let here: string;
beforeAll(async () => {
  console.log(`seed ${seed}`);
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  relay = await TcpRelay.start(Number(new URL(service.client.url).port));
  berth = new Berth({ url: relay.url, key: service.client.key });
  here = join(service.config.dataFolder, "machines", service.driver.running[0]!, "up");
  await mkdir(here);
});
afterAll(async () => {
  relay[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

async function restart(): Promise<void> {
  relay.cut();
  await service.restart();
  relay.target = Number(new URL(service.client.url).port);
}

async function suspend(): Promise<void> {
  // The answer tells; a reader that comes again at once may have woken it by the time of another request.
  const status = async () => (await service.client.call("POST", "/agents/ada/suspend")).body.status;
  await expect.poll(status).toBe("suspended");
}

/** Cuts all connections again and again, at random, until disposed. */
function cutting(): Disposable {
  let over = false;
  void (async () => {
    for (; !over; relay.cut()) await sleep(30 + 400 * random());
  })();
  return {
    [Symbol.dispose]: () => {
      over = true;
    },
  };
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");

test("a command's output is whole, over connections that break at random, a new server and a sleep", {
  timeout: 120_000,
}, async () => {
  const command = "for i in $(seq 1 400); do echo line $i; sleep 0.02; done; exit 3";
  const running = berth.agent("ada").commands.stream({ command });
  let text = "";
  let last: CommandEvent | undefined;
  const reading = (async () => {
    for await (const event of running) {
      text += Buffer.from(outputBytes(event)).toString();
      last = event;
    }
  })();
  await running.id;
  {
    using _ = cutting();
    await sleep(2_000);
  }
  await restart();
  await sleep(300);
  await suspend();
  await service.client.call("POST", "/agents/ada/resume?wait=ready");
  await reading;
  expect([text, last]).toEqual([lines(400), expect.objectContaining({ type: "command.exited", exitCode: 3 })]);
});

test("terminal input is read once over a lost connection", { timeout: 120_000 }, async () => {
  const terminal = berth.agent("ada").terminal();
  let text = "";
  const reading = (async () => {
    for await (const event of terminal) text += Buffer.from(outputBytes(event)).toString();
  })();
  // Input that is typed before the shell has left the terminal to the command is read by the shell's own rules.
  terminal.write("stty -echo; echo rea''dy; cat > typed.txt; exit\r");
  await expect.poll(() => text).toContain("ready");
  {
    using _ = cutting();
    for (let at = 1; at <= 100; at++) {
      terminal.write(`line ${at}\r`);
      await sleep(10 + 20 * random());
    }
  }
  await restart();
  terminal.write("line 101\r");
  // Had it not arrived yet, it would wake the machine that has just fallen asleep.
  await expect.poll(() => readFile(join(here, "../typed.txt"), "utf8")).toContain("line 101\n");
  await suspend();
  terminal.write("line 102\r");
  terminal.write("\x04");
  await reading;
  expect(await readFile(join(here, "../typed.txt"), "utf8")).toBe(lines(102));
});

/** Begins an upload and sends half of it. Resolves with its response, or null if it broke off. */
async function halfUpload(): Promise<{ finish: () => void; over: Promise<number | null> }> {
  const { hostname, port } = new URL(relay.url);
  const headers = { authorization: `Bearer ${service.client.key}`, "content-length": 2_000_000 };
  const sent = httpRequest({ hostname, port, method: "PUT", path: "/agents/ada/files/up/file", headers });
  const over = new Promise<number | null>((resolve) => {
    sent.on("response", (response: IncomingMessage) => resolve(response.resume().statusCode!));
    sent.on("error", () => resolve(null));
  });
  sent.write(Buffer.alloc(1_000_000, "n"));
  await expect.poll(() => readdir(here)).toHaveLength(2);
  return { finish: () => sent.end(Buffer.alloc(1_000_000, "n")), over };
}

test.each([
  ["a broken connection", async () => relay.cut()],
  ["a new server", restart],
  ["a sleep", suspend],
])("an upload that is broken off by %s leaves the file that was there", { timeout: 60_000 }, async (_, interrupt) => {
  await berth.agent("ada").files.write("up/file", "old");
  const upload = await halfUpload();
  await interrupt();
  upload.finish();
  const status = await upload.over;
  expect(status === null || status >= 400).toBe(true);
  expect(await (await berth.agent("ada").files.read("up/file")).text()).toBe("old");
  await expect.poll(() => readdir(here)).toEqual(["file"]);
});

test("an upload at random is all there, or nothing of it is", { timeout: 120_000 }, async () => {
  using _ = cutting();
  let whole = 0;
  for (let round = 0; round < 15; round++) {
    const letter = String.fromCharCode(97 + round);
    const before = await readFile(join(here, "file"), "utf8");
    const content = letter.repeat(1_000_000 + Math.floor(2_000_000 * random()));
    const written = await berth
      .agent("ada")
      .files.write("up/file", content)
      .catch(() => null);
    const now = await readFile(join(here, "file"), "utf8");
    // An answer that was lost may be of an upload that was not.
    expect(now === content || (written === null && now === before)).toBe(true);
    if (now === content) whole++;
  }
  expect(whole).toBeGreaterThan(0);
});

test.each([
  ["a new server", restart],
  ["a sleep", suspend],
])("a download that is broken off by %s is no whole one", { timeout: 60_000 }, async (_, interrupt) => {
  await berth.agent("ada").files.write("up/file", "x".repeat(30_000_000));
  const { hostname, port } = new URL(relay.url);
  const headers = { authorization: `Bearer ${service.client.key}` };
  const sent = httpRequest({ hostname, port, path: "/agents/ada/files/up/file", headers }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes < 100_000) response.pause();
  });
  const ending = new Promise<string>((resolve) => {
    response.on("end", () => resolve("whole"));
    response.on("error", () => resolve("broken off"));
  });
  await once(response, "data");
  await interrupt();
  response.resume();
  expect([await ending, bytes < 30_000_000]).toEqual(["broken off", true]);
});
