import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandEvent, CommandRecord, CommandResult } from "../../src/contract/commands.ts";
import { bytesOf } from "../../src/contract/commands.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Commands over HTTP: the real runner runs them, as processes of this machine in the scripted machine's folder.

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

const path = "/agents/ada/commands";

async function run(body: object): Promise<CommandResult> {
  const { status, body: result } = await service.client.call("POST", path, body);
  expect(status, JSON.stringify(result)).toBe(200);
  return result;
}

async function start(body: object): Promise<CommandRecord> {
  const { status, body: record } = await service.client.call("POST", path, { ...body, detach: true });
  expect(status, JSON.stringify(record)).toBe(201);
  return record;
}

/** Sends bytes to a command's input. */
async function write(id: string, bytes: string | Buffer, query = "", key = randomUUID()): Promise<number> {
  const response = await fetch(`${service.client.url}${path}/${id}/stdin${query}`, {
    method: "POST",
    body: bytes as string,
    headers: { authorization: `Bearer ${service.client.key}`, "idempotency-key": key },
  });
  await response.text();
  return response.status;
}

interface Numbered {
  id: number;
  event: CommandEvent;
}

/** A stream of events, up to its end or the first `most`. */
async function events(id: string, after: number | null = null, most = Number.POSITIVE_INFINITY): Promise<Numbered[]> {
  const response = await fetch(`${service.client.url}${path}/${id}/events${after === null ? "" : `?after=${after}`}`, {
    headers: { authorization: `Bearer ${service.client.key}` },
  });
  expect(response.ok).toBe(true);
  return response.status === 204 ? [] : readEvents(response, most);
}

async function readEvents(response: Response, most = Number.POSITIVE_INFINITY): Promise<Numbered[]> {
  const found: Numbered[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, number, data] = /^id: (\d+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      if (data !== undefined) found.push({ id: Number(number), event: JSON.parse(data) });
      text = text.slice(end + 2);
      if (found.length >= most) return found;
    }
  }
  return found;
}

/** The bytes of stdout. */
function stdout(found: Numbered[]): Buffer {
  const chunks = found.map(({ event }) => (event.type === "command.stdout" ? bytesOf(event) : Buffer.alloc(0)));
  return Buffer.concat(chunks);
}

test("a line for bash is answered with both streams and the exit code", async () => {
  const result = await run({ command: "echo one; echo two >&2; exit 3", env: { GREETING: "hi" } });
  expect(result).toMatchObject({ exitCode: 3, signal: null, stdout: "one\n", stderr: "two\n", truncated: false });
});

test.each(["true ", "true  "])("the record of a long command is cut to well-formed text: %j", async (begin) => {
  const { command } = await start({ command: begin + "😀".repeat(4_000) });
  expect(String(command).isWellFormed()).toBe(true);
  expect(String(command)).toMatch(/😀\ufffd?…$/);
});

test("a program is given its arguments as they are", async () => {
  const result = await run({ command: ["printf", "%s|", "a b", "$HOME", "*", "", "ü"] });
  expect(result.stdout).toBe("a b|$HOME|*||ü|");
});

test("the folder, variables, input and user are the request's", async () => {
  await run({ command: "mkdir -p 'a folder'" });
  const result = await run({
    command: "pwd; echo $GREETING; cat",
    cwd: "a folder",
    env: { GREETING: "hi" },
    stdin: "in",
  });
  expect(result.stdout).toMatch(/a folder\nhi\nin$/);
  expect((await run({ command: "cat" })).stdout).toBe("");
  expect((await run({ command: "echo $HOME", user: "root" })).stdout).toBe("/root\n");
});

test("a command that cannot run is reported", async () => {
  const folder = await service.client.call("POST", path, { command: "pwd", cwd: "/no/such" });
  expect(folder.body).toMatchObject({
    statusCode: 400,
    code: "command_not_runnable",
    message: expect.stringContaining("/no/such"),
  });
  expect(await run({ command: ["no-such-program"] })).toMatchObject({
    exitCode: 127,
    stderr: expect.stringContaining("not found"),
  });
  for (const body of [
    {},
    { command: "" },
    { command: [] },
    { command: "a\0b" },
    { command: "a", cwd: "a\0b" },
    { command: "a", timeoutSeconds: 0 },
  ])
    expect((await service.client.call("POST", path, body)).body.code).toBe("request_invalid");
});

const asked = (body: object) => service.client.call("POST", path, body);

test("as much is passed to a command as Linux passes, in bytes", async () => {
  const most = 128 * 1024 - 1;
  const euros = `${"€".repeat((most - 1) / 3)}.`;
  const counted = await asked({ command: ["sh", "-c", 'printf %s "$1" | wc -c', "sh", euros] });
  expect(counted.body).toMatchObject({ exitCode: 0, stdout: `${most}\n` });
  const line = await asked({ command: `: ${euros.slice(1)}.` });
  expect(line.body).toMatchObject({ exitCode: 0 });
  const variable = await asked({ command: "printenv N | wc -c", env: { N: `${euros.slice(1)}.` } });
  expect(variable.body).toMatchObject({ exitCode: 0, stdout: `${most - 1}\n` });
  for (const [body, field] of [
    [{ command: ["true", `${euros}x`] }, "command"],
    [{ command: `${euros}x` }, "command"],
    [{ command: "true", env: { N: euros } }, "env"],
  ] as const) {
    const { status, body: refused } = await asked(body);
    expect([status, refused.message]).toEqual([400, expect.stringMatching(`^${field}.*131071 bytes`)]);
  }
});

test("what a command leaves in the background is killed at its end, and runs on with setsid", async () => {
  const { body } = await asked({
    command:
      "sleep 1000 >&- 2>&- & echo $!; read -r left < <(setsid sh -c 'echo $$; exec sleep 1000 >&- 2>&-'); echo $left",
  });
  const [killed, left] = body.stdout.trim().split("\n").map(Number);
  await expect.poll(() => isRunning(killed)).toBe(false);
  expect(isRunning(left)).toBe(true);
  process.kill(left, "SIGKILL");
});

/** Whether the process runs, and is no zombie. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("a command that takes too long is killed, with what it has started", async () => {
  const result = await run({ command: "sleep 1000 & echo $!; wait", timeoutSeconds: 1 });
  expect(result).toMatchObject({ exitCode: null, signal: "SIGKILL", timedOut: true });
  await expect.poll(() => isAlive(Number(result.stdout))).toBe(false);
});

/** Whether a process of the machine runs. In a pod nobody reaps what has ended and lost its parent. */
async function isAlive(pid: number): Promise<boolean> {
  return (await run({ command: `grep -q '^State:.[^Z]' /proc/${pid}/status` })).exitCode === 0;
}

test("what a command leaves behind ends with it, unless it is detached", async () => {
  const attached = await run({ command: "sleep 1000 > /dev/null & echo $!" });
  await expect.poll(() => isAlive(Number(attached.stdout))).toBe(false);
  const { id } = await start({ command: "sleep 1000 > /dev/null & echo $!" });
  const pid = Number(stdout(await events(id)).toString());
  expect(await isAlive(pid)).toBe(true);
  await run({ command: `kill -9 ${pid}` });
});

test("a stream has numbered events up to the end, and can be read again from any of them", async () => {
  const response = await fetch(service.client.url + path, {
    method: "POST",
    body: JSON.stringify({
      command:
        "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done; printf '\\xff\\xfe'; sleep 0.1; printf '\\xc3'; sleep 0.1; printf '\\xbc'",
    }),
    headers: {
      authorization: `Bearer ${service.client.key}`,
      accept: "text/event-stream",
      "content-type": "application/json",
    },
  });
  const id = response.headers.get("x-command-id")!;
  const whole = await readEvents(response);
  expect(whole.map(({ id: seq }) => seq)).toEqual(whole.map((_, index) => index + 1));
  expect(whole.at(-1)!.event).toMatchObject({ type: "command.exited", exitCode: 0 });
  expect(whole).toContainEqual(expect.objectContaining({ event: { type: "command.stdout", base64: "//4=" } }));
  expect(whole.at(-2)!.event).toEqual({ type: "command.stdout", text: "ü" });
  for (const { id: after } of whole) expect(await events(id, after)).toEqual(whole.slice(after));
});

test("output beyond 16 MiB drops its start and the reader is notified", async () => {
  const { id } = await start({ command: "yes 0123456789abcde | head -c 20000000" });
  const found = await events(id);
  const late = await events(id, 0);
  const [first] = late;
  expect(first!.event.type).toBe("command.output_dropped");
  const kept = stdout(late).length;
  expect(kept).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect((first!.event as { bytes: number }).bytes + kept).toBe(20_000_000);
  expect(stdout(found).length).toBeLessThanOrEqual(20_000_000);
});

test("a JSON answer has a mebibyte of each stream, and says that there is more", async () => {
  const result = await run({ command: "head -c 3000000 /dev/zero | tr '\\0' x; echo err >&2" });
  expect([result.stdout.length, result.stderr, result.truncated]).toEqual([1024 * 1024, "err\n", true]);
});

test("input goes to a running command, once however often it is sent, up to its end", async () => {
  const { id } = await start({ command: "cat", openStdin: true });
  const key = randomUUID();
  expect(await write(id, "one ", "", key)).toBe(204);
  expect(await write(id, "one ", "", key)).toBe(204);
  expect(await write(id, Buffer.from([0, 255]))).toBe(204);
  expect(await write(id, " two", "?end=true")).toBe(204);
  expect(stdout(await events(id))).toEqual(
    Buffer.concat([Buffer.from("one "), Buffer.from([0, 255]), Buffer.from(" two")]),
  );
  expect(await write(id, "late")).toBe(409);
});

test("a command that does not read its input makes its writer wait, and then says so", {
  timeout: 60_000,
}, async () => {
  const { id } = await start({ command: "sleep 1000", openStdin: true });
  const piece = Buffer.alloc(512 * 1024);
  const statuses = [];
  for (let sent = 0; sent < 4; sent++) statuses.push(await write(id, piece));
  expect(statuses.at(-1)).toBe(409);
  expect(await write(id, Buffer.alloc(512 * 1024 + 1))).toBe(413);
  await service.client.call("POST", `${path}/${id}/signal`, { signal: "SIGKILL" });
});

test("a signal goes to all of a command's group", async () => {
  const { id } = await start({ command: "trap 'echo got; exit 7' USR1; echo ready; while true; do sleep 0.1; done" });
  await events(id, 0, 1);
  expect((await service.client.call("POST", `${path}/${id}/signal`, { signal: "SIGNO" })).status).toBe(400);
  expect((await service.client.call("POST", `${path}/${id}/signal`, { signal: "SIGUSR1" })).status).toBe(204);
  expect((await events(id)).at(-1)!.event).toMatchObject({ type: "command.exited", exitCode: 7 });
  const again = await service.client.call("POST", `${path}/${id}/signal`, { signal: "SIGUSR1" });
  expect(again.body).toMatchObject({ statusCode: 409, code: "command_exited" });
});

test("commands are listed, the newest first, and each can be read", async () => {
  const { id } = await start({ command: "echo done" });
  await events(id);
  const { data } = (await service.client.call("GET", path)).body;
  expect(data[0]).toMatchObject({
    id,
    command: "echo done",
    status: "exited",
    exitCode: 0,
    outputBytes: 5,
    detached: true,
  });
  expect((await service.client.call("GET", `${path}/${id}`)).body).toEqual(data[0]);
  for (const rest of ["", "/events"]) {
    const none = await service.client.call("GET", `${path}/${randomUUID()}${rest}`);
    expect(none.body).toMatchObject({ statusCode: 404, code: "command_not_found" });
  }
});

test("the same request runs once", async () => {
  const key = { "idempotency-key": randomUUID() };
  const body = { command: "echo x >> once.txt; cat once.txt" };
  const first = await service.client.call("POST", path, body, key);
  const second = await service.client.call("POST", path, body, key);
  expect([first.body.stdout, second.body.stdout]).toEqual(["x\n", "x\n"]);
});

test("64 commands run at once and no more; a hundred ended ones are kept", { timeout: 120_000 }, async () => {
  await service.client.createAgent("crowd");
  const at = "/agents/crowd/commands";
  const all = await Promise.all(
    Array.from({ length: 70 }, () => service.client.call("POST", at, { command: "sleep 1000", detach: true })),
  );
  const refused = all.filter(({ status }) => status === 429);
  expect([refused.length, refused[0]!.body.code]).toEqual([6, "too_many_commands"]);
  const started = all.filter(({ status }) => status === 201).map(({ body }) => body.id as string);
  await Promise.all(started.map((id) => service.client.call("POST", `${at}/${id}/signal`, { signal: "SIGKILL" })));
  const count = async () => {
    const { data } = (await service.client.call("GET", at)).body as { data: CommandRecord[] };
    return data.filter(({ status }) => status === "exited").length;
  };
  await expect.poll(count).toBe(64);
  for (let more = 0; more < 40; more++) await service.client.call("POST", at, { command: "true" });
  await expect.poll(count).toBe(100);
});

test("a command survives a lost connection, a new server and a sleep", {
  timeout: 60_000,
}, async () => {
  await service.client.createAgent("hardy");
  const id = service.driver.running.at(-1)!;
  const at = "/agents/hardy/commands";
  const command = "for i in $(seq 1 60); do echo $i; sleep 0.05; done";
  const { body } = await service.client.call("POST", at, { command, detach: true });
  const read = async (after: number) => {
    const response = await fetch(`${service.client.url}${at}/${body.id}/events?after=${after}`, {
      headers: { authorization: `Bearer ${service.client.key}` },
    });
    return readEvents(response).catch(() => []);
  };
  const first = read(0);
  const outputBytes = async () => (await service.client.call("GET", `${at}/${body.id}`)).body.outputBytes;
  await expect.poll(outputBytes).toBeGreaterThan(0);
  service.driver.disconnect(id);
  await sleep(300);
  expect((await service.client.call("POST", "/agents/hardy/suspend")).status).toBe(200);
  expect((await service.client.call("POST", "/agents/hardy/resume?wait=ready")).status).toBe(200);
  const expected = Array.from({ length: 60 }, (_, index) => `${index + 1}\n`).join("");
  expect(stdout(await first).toString()).toBe(expected);
  await service.restart();
  expect(stdout(await read(0)).toString()).toBe(expected);
});

test("commands of a lost machine have exited", async () => {
  await service.client.createAgent("unlucky");
  const machine = service.driver.running.at(-1)!;
  const at = "/agents/unlucky/commands";
  const { body } = await service.client.call("POST", at, { command: "echo $$; sleep 1000", detach: true });
  await expect.poll(async () => (await service.client.call("GET", at)).body.data[0].outputBytes).toBeGreaterThan(0);
  service.driver.kill(machine);
  await expect
    .poll(async () => (await service.client.call("GET", `${at}/${body.id}`)).body)
    .toMatchObject({ status: "exited", exitCode: null });
  const response = await fetch(`${service.client.url}${at}/${body.id}/events`, {
    headers: { authorization: `Bearer ${service.client.key}` },
  });
  const found = await readEvents(response);
  expect(found.at(-1)!.event).toMatchObject({ type: "command.exited", exitCode: null });
  const pid = Number(stdout(found).toString());
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test("the events of a command after its last are 204", async () => {
  await service.client.createAgent("over");
  const ran = await service.client.fetch("POST", "/agents/over/commands", { command: "echo done" });
  await ran.text();
  const at = `/agents/over/commands/${ran.headers.get("x-command-id")}/events`;
  const events = await readEvents(await service.client.fetch("GET", at));
  expect(events.at(-1)).toMatchObject({ event: { type: "command.exited" } });
  const over = await service.client.call("GET", at, undefined, { "last-event-id": String(events.length) });
  expect([over.status, over.body]).toEqual([204, ""]);
});
