import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, messageNumberIn } from "../support/client.ts";
import { VmService } from "../support/vm-service.ts";

let service: VmService;
beforeAll(async () => {
  service = await VmService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

test("the real claude-code answers from a machine of its own, having run a command there", async () => {
  const created = await service.client.createAgent("ada");
  expect(created.body).toMatchObject({ name: "ada", status: "ready" });
  const reply = await service.client.chat("ada", "run: cat /etc/machine-id /proc/sys/kernel/random/boot_id", ["tools"]);
  const id = await service.machineId("ada");
  const { stdout } = await service.exec(id, "cat /etc/machine-id /proc/sys/kernel/random/boot_id");
  const [machineId, bootId] = stdout.trim().split("\n") as [string, string];
  expect(machineId).toBe(id.replaceAll("-", ""));
  expect(bootId).not.toBe((await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim());
  expect(reply.text).toContain(machineId);
  expect(reply.text).toContain(bootId);
  const deltas = reply.events.filter(({ event }) => event.type === "response.output_text.delta");
  expect(deltas.length).toBeGreaterThan(5);
  expect(reply.events.some(({ event }) => event.type === "response.tool_call.completed")).toBe(true);
});

test("the first turn knows nothing of the template's throwaway turns, the next ones of each other", async () => {
  await service.client.createAgent("bea");
  expect(await service.client.ask("bea", "My cat is called Miez.")).toContain("Your message 1 of this conversation");
  const second = await service.client.chat("bea", "What is she called?");
  expect(second.text).toContain("Your message 2 of this conversation");
  expect(second.text).toContain("My cat is called Miez.");
});

test("cancel interrupts a running command in the machine, and the next turn is fine", async () => {
  const response = await service.client.fetch("POST", "/agents/bea/chat", {
    message: "run: tail -f /dev/null",
    include: ["tools"],
  });
  const types: string[] = [];
  for await (const { event } of eventsOf(response)) {
    types.push(event.type);
    if (event.type === "response.tool_call.updated" && !types.includes("cancelling")) {
      types.push("cancelling");
      await service.client.call("POST", `/agents/bea/turns/${response.headers.get("x-turn-id")}/cancel`);
    }
  }
  expect(types.at(-1)).toBe("response.cancelled");
  expect(await service.client.ask("bea", "run: echo fine")).toContain("fine");
});

test("a command waits for its approval while the machine sleeps, and runs when the answer has woken it", async () => {
  const { client } = service;
  await client.call("PATCH", "/agents/bea", { permissions: { execute: "ask" } });
  const command = "cat /dev/shm/note; echo approved > approved.txt";
  const id = await service.machineId("bea");
  await service.exec(id, "echo kept > /dev/shm/note");
  const response = await client.fetch("POST", "/agents/bea/chat", {
    message: `run: ${command}`,
    include: ["approvals"],
  });
  const types: string[] = [];
  let text = "";
  for await (const { event } of eventsOf(response)) {
    types.push(event.type);
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type !== "response.approval.requested") continue;
    expect(event).toMatchObject({ kind: "execute", subject: command });
    expect((await client.call("POST", "/agents/bea/suspend")).body.status).toBe("suspended");
    const { body } = await client.call("GET", "/approvals");
    expect(body.data).toMatchObject([{ id: event.id, agent: "bea", status: "open" }]);
    const path = `/agents/bea/turns/${body.data[0].turnId}/approvals/${event.id}`;
    expect((await client.call("POST", path, { decision: "allow" })).status).toBe(200);
  }
  expect(types.at(-1)).toBe("response.completed");
  expect(text).toContain("kept");
  expect((await service.exec(id, "cat ~agent/approved.txt")).stdout).toBe("approved\n");
  await client.call("PATCH", "/agents/bea", { permissions: {} });
});

test("QEMU runs with as little privilege as can be had, and its files are closed to others", async () => {
  const id = await service.machineId("ada");
  const status = await readFile(`/proc/${await service.pid(id)}/status`, "utf8");
  expect(status).toMatch(/^Seccomp:\t2$/m);
  if (process.getuid?.() === 0) {
    expect(status).not.toMatch(/^Uid:\t0/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
  }
  const folder = join(service.config.dataFolder, "machines", id);
  expect((await stat(folder)).mode & 0o067).toBe(0);
  for (const name of await readdir(folder)) {
    const { mode } = await stat(join(folder, name));
    expect([name, (mode & 0o007).toString(8)]).toEqual([name, "0"]);
  }
});

test("a machine that is killed in mid-turn ends the turn, and comes back with its files and its conversation", async () => {
  const { client } = service;
  const changesOf = async (turnId: string) =>
    (await client.call("GET", `/agents/bea/turns/${turnId}/changes`)).body.files;
  const noted = await client.chat("bea", "run: echo kept > ~/note");
  expect(await changesOf(noted.turnId)).toMatchObject([
    { name: "note", change: "created", diff: "@@ -0,0 +1 @@\n+kept\n" },
  ]);
  const id = await service.machineId("bea");
  const response = await client.fetch("POST", "/agents/bea/chat", {
    message: "run: tail -f /dev/null",
    include: ["tools"],
  });
  const types: string[] = [];
  for await (const { event } of eventsOf(response)) {
    types.push(event.type === "response.failed" ? event.error.code : event.type);
    if (event.type === "response.tool_call.updated" && types.length < 4) process.kill(await service.pid(id), "SIGKILL");
  }
  expect(types.at(-1)).toBe("machine_lost");
  const reply = await client.chat("bea", "run: cat ~/note");
  expect(reply.text).toContain("kept");
  expect(await changesOf(reply.turnId)).toEqual([]);
  expect((await service.record(id)).origin).toBe("boot");
  const { stdout } = await service.exec(id, "cat ~agent/.claude/projects/*/*.jsonl");
  expect(await client.ask("bea", "And?")).toContain("run: cat ~/note");
  expect(stdout).toContain("My cat is called Miez.");
  expect(stdout).toContain("echo kept");
});

test("a runner that is killed ends its turn and what ran in it; the next turn is of the same conversation", async () => {
  const { client } = service;
  const id = await service.machineId("ada");
  // Also of a clone, whose runtime was started in the template: a runner after this one knows it by this.
  const { stdout } = await service.exec(
    id,
    "read pid start < /run/berth/runtime-process; cut -d ' ' -f 22 /proc/$pid/stat",
  );
  expect((await service.exec(id, "cat /run/berth/runtime-process")).stdout).toMatch(
    new RegExp(`^\\d+ ${stdout.trim()}$`),
  );
  const response = await client.fetch("POST", "/agents/ada/chat", {
    message: "run: tail -f /dev/null",
    include: ["tools"],
  });
  const types: string[] = [];
  for await (const { event } of eventsOf(response)) {
    types.push(event.type === "response.failed" ? event.error.code : event.type);
    const begun = event.type === "response.tool_call.updated" && types.length < 4;
    if (begun) await service.exec(id, "setsid sh -c 'sleep 1; pkill -9 -f [r]unner.mjs' > /dev/null 2>&1 &");
  }
  expect(types.at(-1)).toBe("machine_lost");
  // The third, or the fourth where the runtime has noted the interruption.
  expect(messageNumberIn(await client.ask("ada", "Are you there still?"))).toBeGreaterThan(2);
  expect((await service.record(id)).origin).toBe("clone");
  expect((await service.exec(id, "ps -C tail -o args=")).stdout).toBe("");
});

test("a runtime that is killed is started again in its conversation", async () => {
  const { client } = service;
  const id = await service.machineId("ada");
  await service.exec(id, "pkill -9 -u agent");
  const reply = await client.chat("ada", "Are you there?");
  expect(reply.text).toContain("Are you there still?");
});

test("deleting removes the process, the disk, the memory and the sockets", async () => {
  const id = await service.machineId("ada");
  const pid = await service.pid(id);
  expect((await service.client.call("DELETE", "/agents/ada")).status).toBe(204);
  expect(await readdir(join(service.config.dataFolder, "machines"))).not.toContain(id);
  await expect(stat(`/proc/${pid}/exe`)).rejects.toThrow();
});
