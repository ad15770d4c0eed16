import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { VmService } from "../support/vm-service.ts";

const clones = ["clone-a", "clone-b", "clone-c"];
let service: VmService;
let ids: string[];

beforeAll(async () => {
  // Two take a machine that waits, the third gets a clone. There is no room for another that waits.
  service = await VmService.start({ spares: 1, spareLoad: 1_000, maximumAwake: clones.length });
  const spares: string[] = [];
  for (const name of clones) {
    if (spares.length < 2) spares.push(await spare(spares));
    await service.client.createAgent(name);
  }
  ids = await Promise.all(clones.map((name) => service.machineId(name)));
  expect(ids.slice(0, 2)).toEqual(spares);
});
afterAll(() => service[Symbol.asyncDispose]());

/** The spare, once there is a machine in addition to the known ones. */
async function spare(known: readonly string[]): Promise<string> {
  const waits = async () => (await service.client.call("GET", "/admin/capacity")).body.spares.used === 1;
  await vi.waitUntil(waits, { timeout: 300_000, interval: 500 });
  return (await service.server.machines.list()).find(({ id }) => !known.includes(id))!.id;
}

/** The response of each clone to one command. */
function inEach(command: string): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await service.exec(id, command)).stdout.trim()));
}

test.each([
  ["machine-id", "cat /etc/machine-id"],
  ["boot id", "cat /proc/sys/kernel/random/boot_id"],
  ["host name", "hostname"],
  ["kernel's random bytes", "head -c 64 /dev/urandom | base64 -w0"],
  ["kernel's UUIDs", "cat /proc/sys/kernel/random/uuid"],
  ["Node's UUIDs", "node -p 'crypto.randomUUID()'"],
  ["Node's Math.random", "node -p 'Math.random()'"],
  ["Python's UUIDs", "python3 -c 'import uuid; print(uuid.uuid4())'"],
  ["OpenSSH's keys", "ssh-keygen -q -t ed25519 -N '' -f /tmp/key && cat /tmp/key.pub"],
])("no two clones have the same %s", async (_what, command) => {
  const answers = await inEach(command);
  expect(new Set(answers).size).toBe(clones.length);
  for (const answer of answers) expect(answer).not.toBe("");
});

test("no two clones have the same channel token, and the template's is not taken any more", async () => {
  const records = await Promise.all(ids.map((id) => service.record(id)));
  expect(new Set(records.map(({ template }) => template)).size).toBe(1);
  expect(records.map(({ origin }) => origin)).toEqual(["clone", "clone", "clone"]);
  expect(new Set(records.map(({ token }) => token)).size).toBe(clones.length);
});

test("each clone's clock is right", async () => {
  for (const time of await inEach("date +%s")) expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(20);
});

test("a clock that is behind, as after a busy adoption, is set by the next call", async () => {
  const [id] = ids;
  await service.exec(id!, "sudo date -s '1 hour ago'");
  const { stdout } = await service.exec(id!, "date +%s");
  expect(Math.abs(Number(stdout) - Date.now() / 1000)).toBeLessThan(20);
});

test("a guest holds no secret of the service: no key in its environment, processes or files", async () => {
  const found = await inEach(
    `grep -rlaF '${service.client.key.slice(9)}' /proc/[0-9]*/environ /etc /home /run /var/lib/berth 2>/dev/null; true`,
  );
  expect(found).toEqual(["", "", ""]);
});

test("a guest reaches neither the host's ports nor another machine nor the internet", async () => {
  const server: Server = createServer((_request, response) => response.end("reached the host")).listen(0, "0.0.0.0");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    // The address is good: the host itself reaches it.
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("reached the host");
    const [, other] = await Promise.all(ids.map((id) => service.record(id)));
    const own = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    const targets = [
      ...["10.0.2.2", "10.0.2.3", ...own.map(({ address }) => address)].flatMap((host) => [
        `${host}:${port}`,
        `${host}:${new URL(service.server.url).port}`,
        `${host}:${other!.port}`,
      ]),
      "10.0.2.2:22",
      "1.1.1.1:443",
      "169.254.169.254:80",
      "[fec0::2]:80",
    ];
    const tries = targets.map(
      (target) => `curl -s -m 3 --noproxy '*' -o /dev/null http://${target}/ && echo reached ${target}`,
    );
    // With a route, as an agent that is root in its machine may set one, and past the proxy.
    const [id] = ids as [string];
    const { stdout } = await service.exec(
      id,
      `ip route replace default via 10.0.2.2; ${tries.map((one) => `(${one}) &`).join(" ")} wait; getent hosts registry.npmjs.org; true`,
    );
    expect(stdout).toBe("");
    expect(
      (await service.exec(id, "curl -s -m 5 -o /dev/null -w '%{http_code}' http://127.0.0.1:7001/v1/anything")).stdout,
    ).toBe("404");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("a stranger on the host's side of the port is refused", async () => {
  const { dialPort, openChannel } = await import("../../src/machines/connect.ts");
  const { port } = await service.record(ids[0]!);
  for (const token of ["", "wrong", (await service.record(ids[1]!)).token]) {
    const socket = await dialPort(port);
    const request = { channel: "control", tokens: [token], handshake: "proof" } as const;
    await expect(openChannel(socket, request, 10_000)).rejects.toThrow("the guest does not know the token");
    socket.destroy();
  }
});
