import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Qmp } from "./qmp.ts";

// A QEMU that its guest has taken over says anything on its monitor.

let folder: string;
let server: Server;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-qmp-"));
});
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

/** A monitor that answers its first command, and says this to the next. */
async function monitorThatSays(words: string): Promise<Qmp> {
  const path = join(folder, "qmp");
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write('{"return":{},"id":1}\n');
      socket.once("data", () => socket.write(`${words}\n`));
    });
  }).listen(path);
  return Qmp.open(path, AbortSignal.timeout(10_000));
}

test.each(["garbage", "null", "x".repeat(5_000_000)])(
  "what is no message ends the connection, and nothing else",
  async (words) => {
    using qmp = await monitorThatSays(words);
    await expect(qmp.execute("query-status")).rejects.toThrow("QEMU has ended");
  },
);

test("events of no such name are passed over, also one that the connection itself would emit", async () => {
  using qmp = await monitorThatSays('{"event":"error"}\n{"event":"CLOSED"}\n{"event":7}\n{"event":"STOP","data":1}');
  let closed = false;
  qmp.events.on("CLOSED", () => {
    closed = true;
  });
  const stopped = new Promise((resolve) => qmp.events.once("STOP", resolve));
  qmp.execute("query-status").catch(() => {});
  expect(await stopped).toBe(1);
  expect(closed).toBe(false);
});
