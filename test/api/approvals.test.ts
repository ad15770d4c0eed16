import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { newKey } from "../support/accounts.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;
let number = 0;
/** Each test has an agent of its own, which asks before it executes. */
let agent: string;

beforeAll(async () => {
  service = await ScriptedService.start();
});
beforeEach(async () => {
  client = service.client;
  agent = `agent-${++number}`;
  await client.createAgent(agent, { permissions: { execute: "ask" } });
});
afterAll(() => service[Symbol.asyncDispose]());

type Requested = Extract<TurnEvent, { type: "response.approval.requested" }>;

/** A message that was sent, and the events of its stream. */
class Sent {
  readonly turnId: string;
  readonly events: TurnEvent[] = [];
  readonly ended: Promise<void>;

  constructor(response: Response) {
    this.turnId = response.headers.get("x-turn-id")!;
    this.ended = this.#read(response);
  }

  get requests(): Requested[] {
    return this.events.filter((event) => event.type === "response.approval.requested");
  }

  get text(): string {
    return this.events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
  }

  get last(): string {
    return this.events.at(-1)!.type;
  }

  async #read(response: Response): Promise<void> {
    try {
      for await (const { event } of eventsOf(response)) this.events.push(event);
    } catch {
      // The server that sent it has stopped.
    }
  }
}

async function send(message: string, more: object = {}, by = client): Promise<Sent> {
  const body = { message, include: ["approvals"], ...more };
  const response = await by.fetch("POST", `/agents/${agent}/chat`, body);
  if (response.status !== 200) throw Object.assign(new Error("refused"), { body: await response.json() });
  return new Sent(response);
}

/** A turn that waits for an approval of this command. */
async function asking(command = "rm -rf build"): Promise<{ sent: Sent; request: Requested }> {
  const sent = await send(`use execute ${command}`);
  await expect.poll(() => sent.requests.length).toBe(1);
  return { sent, request: sent.requests[0]! };
}

const turnOf = async ({ turnId }: Sent) => (await client.call("GET", `/agents/${agent}/turns/${turnId}`)).body;
const approvalsOf = async ({ turnId }: Sent) =>
  (await client.call("GET", `/agents/${agent}/turns/${turnId}/approvals`)).body.data;
const answer = (sent: Sent, { id }: { id: string }, decision: string, by = client, message?: string) =>
  by.call("POST", `/agents/${agent}/turns/${sent.turnId}/approvals/${id}`, { decision, message });
const openOnes = async () => (await client.call("GET", `/approvals?agent=${agent}`)).body.data;
const permissions = async () => (await client.call("GET", `/agents/${agent}`)).body.permissions;
const statusOf = async () => (await client.call("GET", `/agents/${agent}`)).body.status;

describe("a tool that the permissions ask about", () => {
  test("makes the turn wait, and runs once it is allowed", async () => {
    const { sent, request } = await asking();
    expect(request).toMatchObject({
      kind: "execute",
      title: "rm -rf build",
      subject: "rm -rf build",
      input: { command: "rm -rf build" },
    });
    expect(await turnOf(sent)).toMatchObject({ status: "waiting", reason: "approval" });
    expect((await client.call("GET", "/turns")).body.data[0]).toMatchObject({ status: "waiting" });
    expect(await openOnes()).toMatchObject([{ id: request.id, agent, turnId: sent.turnId, status: "open" }]);
    const answered = await answer(sent, request, "allow");
    expect(answered).toMatchObject({ status: 200, body: { status: "answered", decision: "allow" } });
    await sent.ended;
    expect(sent.text).toBe("used");
    expect(sent.events).toContainEqual({ type: "response.approval.resolved", id: request.id, decision: "allow" });
    expect(await turnOf(sent)).toMatchObject({ status: "completed", reason: null });
    expect(await openOnes()).toEqual([]);
    expect(await permissions()).toMatchObject({ execute: "ask", rules: [] });
  });

  test("does not run when it is denied, and the turn continues", async () => {
    const { sent, request } = await asking();
    expect((await answer(sent, request, "deny", client, "Not today.")).body).toMatchObject({ message: "Not today." });
    await sent.ended;
    expect([sent.text, sent.last]).toEqual(["not used", "response.completed"]);
  });

  test("is answered once: a second answer gets the first", async () => {
    const { sent, request } = await asking();
    const answers = await Promise.all(["allow", "deny", "deny"].map((decision) => answer(sent, request, decision)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const first = answers.find(({ status }) => status === 200)!.body.decision;
    const late = answers.find(({ status }) => status === 409)!.body;
    expect(late).toMatchObject({ code: "approval_answered", details: { decision: first } });
    await sent.ended;
    expect(sent.text).toBe(first === "allow" ? "used" : "not used");
  });

  test("is asked about once with allow-always, which adds a rule for exactly that", async () => {
    const { sent, request } = await asking("rm *.log");
    await answer(sent, request, "allow-always");
    await sent.ended;
    expect(await permissions()).toMatchObject({
      rules: [{ kind: "execute", pattern: "rm \\*.log", decision: "allow" }],
    });
    const again = await send("use execute rm *.log");
    await again.ended;
    expect([again.text, again.requests]).toEqual(["used", []]);
    await asking("rm a.log");
  });

  test("may be one of many at once, answered in any order", async () => {
    const sent = await send("uses execute 3 step");
    await expect.poll(() => sent.requests.length).toBe(3);
    const [one, two, three] = sent.requests;
    await answer(sent, three!, "allow");
    await answer(sent, one!, "deny");
    expect(await turnOf(sent)).toMatchObject({ status: "waiting" });
    expect(await openOnes()).toMatchObject([{ id: two!.id }]);
    await answer(sent, two!, "allow");
    await sent.ended;
    expect(sent.text).toBe("not used, used, used");
    expect((await approvalsOf(sent)).map((each: { decision: string }) => each.decision)).toEqual([
      "deny",
      "allow",
      "allow",
    ]);
  });

  test("fails the turn where 51 wait at once", async () => {
    const sent = await send("uses execute 51 step");
    await sent.ended;
    expect(sent.events.at(-1)).toMatchObject({
      type: "response.failed",
      error: { code: "runtime_failed", message: "A turn may wait for 50 approvals at once, and for 2000 in all." },
    });
    expect(await openOnes()).toEqual([]);
  });

  test("is denied for a request that cannot carry a question", async () => {
    const sent = await send("use execute date", { onAsk: "deny" });
    await sent.ended;
    expect([sent.text, sent.requests]).toEqual(["not used", []]);
    const openai = await client.call("POST", "/v1/chat/completions", {
      model: agent,
      messages: [{ role: "user", content: "use execute date" }],
    });
    expect(openai.body.choices[0].message.content).toBe("not used");
  });

  test("closes when its turn is cancelled, and is then not answered", async () => {
    const { sent, request } = await asking();
    await client.call("POST", `/agents/${agent}/turns/${sent.turnId}/cancel`);
    await sent.ended;
    expect(sent.last).toBe("response.cancelled");
    expect(await approvalsOf(sent)).toMatchObject([{ status: "closed", decision: null }]);
    expect(await answer(sent, request, "allow")).toMatchObject({ status: 409, body: { code: "approval_not_waiting" } });
  });
});

describe("while a turn waits for an approval", () => {
  test("its machine sleeps, and an answer wakes it", async () => {
    const { sent, request } = await asking();
    expect((await client.call("POST", `/agents/${agent}/suspend`)).body).toMatchObject({ status: "suspended" });
    expect(await turnOf(sent)).toMatchObject({ status: "waiting" });
    await answer(sent, request, "allow");
    await sent.ended;
    expect([sent.text, sent.last]).toEqual(["used", "response.completed"]);
    expect(await statusOf()).toBe("ready");
  });

  test("another use of the machine wakes it, and the turn still waits", async () => {
    const { sent, request } = await asking();
    await client.call("POST", `/agents/${agent}/suspend`);
    expect((await client.fetch("GET", `/agents/${agent}/files/.local/state/messages`)).status).toBe(200);
    await client.call("POST", `/agents/${agent}/suspend`);
    expect((await client.fetch("GET", `/agents/${agent}/files/.local/state/messages`)).status).toBe(200);
    expect(await turnOf(sent)).toMatchObject({ status: "waiting" });
    await answer(sent, request, "allow");
    await sent.ended;
    expect([sent.text, sent.last]).toEqual(["used", "response.completed"]);
  });

  test("its loss ends the turn and closes the approval", async () => {
    const { sent, request } = await asking();
    service.driver.kill(service.driver.running.at(-1)!);
    await sent.ended;
    expect(sent.events.at(-1)).toMatchObject({ type: "response.failed", error: { code: "machine_lost" } });
    expect(await approvalsOf(sent)).toMatchObject([{ id: request.id, status: "closed" }]);
  });

  test("the conversation is not reset, and a second message waits or is refused", async () => {
    const { sent } = await asking();
    expect((await client.call("POST", `/agents/${agent}/conversation/reset`)).status).toBe(409);
    await expect(send("second")).rejects.toMatchObject({ body: { code: "turn_in_progress" } });
    await client.call("POST", `/agents/${agent}/turns/${sent.turnId}/cancel`);
  });

  test("a restarted server takes it up, awake or asleep, and delivers an answer", async () => {
    const { sent, request } = await asking();
    await service.restart();
    client = service.client;
    expect(await turnOf(sent)).toMatchObject({ status: "waiting" });
    await client.call("POST", `/agents/${agent}/suspend`);
    await service.restart();
    client = service.client;
    expect([await statusOf(), (await turnOf(sent)).status]).toEqual(["suspended", "waiting"]);
    await answer(sent, request, "allow");
    await expect.poll(async () => (await turnOf(sent)).status).toBe("completed");
    expect(await turnOf(sent)).toMatchObject({ reply: "used" });
  });
});

test("an approval that nobody answers in time is denied", async () => {
  await using hasty = await ScriptedService.start({ approvalMs: 500 });
  client = hasty.client;
  await client.createAgent(agent, { permissions: { execute: "ask" } });
  const { sent } = await asking();
  await sent.ended;
  expect(sent.text).toBe("not used");
  expect(await approvalsOf(sent)).toMatchObject([
    { status: "answered", decision: "deny", message: "Nobody answered in time.", decidedBy: null },
  ]);
});

describe("permissions", () => {
  const rule = { kind: "read", pattern: "a", decision: "ask" };

  test("deny at once, and allow by rules", async () => {
    await client.call("PATCH", `/agents/${agent}`, {
      permissions: {
        execute: "deny",
        rules: [
          { kind: "execute", pattern: "git push*", decision: "ask" },
          { kind: "execute", pattern: "git *", decision: "allow" },
        ],
      },
    });
    for (const [message, text] of [
      ["use execute date", "not used"],
      ["use execute git status", "used"],
      ["use execute git status; rm -rf /", "not used"],
      ["use edit /home/agent/a", "used"],
    ]) {
      const sent = await send(message!);
      await sent.ended;
      expect([message, sent.text]).toEqual([message, text]);
    }
    await asking("git push origin main");
  });

  test("hold from the next turn on", async () => {
    const { sent, request } = await asking();
    await client.call("PATCH", `/agents/${agent}`, { permissions: {} });
    await answer(sent, request, "allow");
    await sent.ended;
    const next = await send("use execute date");
    await next.ended;
    expect([next.text, next.requests]).toEqual(["used", []]);
  });

  test.each([
    ["an unknown decision", { execute: "maybe" }, /^permissions\.execute: Must be one of: allow, ask, deny\.$/],
    ["an unknown kind", { shell: "ask" }, /^permissions\.shell: Unknown field\.$/],
    ["an empty pattern", { rules: [{ ...rule, pattern: "" }] }, /^permissions\.rules\.0\.pattern: .*must not be empty/],
    ["too many rules", { rules: Array(201).fill(rule) }, /Up to 200 rules are allowed/],
  ])("with %s are refused with a reason", async (_, given, message) => {
    const { status, body } = await client.call("PATCH", `/agents/${agent}`, { permissions: given });
    expect([status, body.code]).toEqual([400, "request_invalid"]);
    expect(body.message).toMatch(message);
  });

  test("are refused for a runtime that cannot enforce them, with the kind", async () => {
    const openclaw = await client.call("POST", "/agents", {
      name: "claw",
      runtime: "openclaw",
      permissions: { fetch: "deny" },
    });
    const changed = await client.call("PATCH", `/agents/${agent}`, { runtime: "openclaw" });
    for (const { status, body } of [openclaw, changed]) {
      expect([status, body.code]).toEqual([400, "permissions_not_supported"]);
    }
    expect(openclaw.body.details).toEqual({ kind: "fetch", runtime: "openclaw" });
    expect(changed.body.details).toEqual({ kind: "execute", runtime: "openclaw" });
  });
});

test("an external key's turn asks, and only the owner answers", async () => {
  const guest = await newKey(client, { name: "guest", kind: "agent", agents: [agent] });
  const sent = await send("use execute date", {}, guest);
  await expect.poll(() => sent.requests.length).toBe(1);
  const [request] = sent.requests;
  expect((await answer(sent, request!, "allow", guest)).status).toBe(403);
  expect((await guest.call("GET", "/approvals")).status).toBe(403);
  expect((await answer(sent, request!, "allow")).status).toBe(200);
  await sent.ended;
  expect(sent.text).toBe("used");
});
