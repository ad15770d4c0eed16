import { once } from "node:events";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Downloads } from "./downloads.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-downloads-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** How a file's download breaks whose program exits with this number. */
async function brokenBy(exitCode: number): Promise<NodeJS.ErrnoException> {
  const program = join(folder, `program-${exitCode}`);
  await writeFile(program, `#!/bin/sh\nexit ${exitCode}\n`, { mode: 0o755 });
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const server = connect((listener.address() as AddressInfo).port, "127.0.0.1");
  const [connection] = (await once(listener, "connection")) as [Socket];
  const { promise, resolve } = Promise.withResolvers<Error>();
  await using handle = await open(join(folder, "file"), "w");
  const downloads = new Downloads(program);
  using _ = downloads.expect("upload", { into: handle.fd, taken: async () => {}, broken: resolve });
  try {
    await downloads.take(connection, { tunnel: "upload", after: 0 });
    return await promise;
  } finally {
    for (const socket of [server, connection]) socket.destroy();
    listener.close();
  }
}

test("a download to a full disk reports the system's error", async () => {
  expect(await brokenBy(28)).toMatchObject({ code: "ENOSPC" });
  expect((await brokenBy(5)).code).toBeUndefined();
});
