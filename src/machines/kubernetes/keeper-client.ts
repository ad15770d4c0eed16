import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { BerthError } from "../../contract/errors.ts";
import type { Progress } from "../../service/lifecycle/provisioning.ts";
import type { Driver } from "../driver.ts";
import { changing } from "../fenced-driver.ts";
import { AnswerLine, linesOf, resultOf } from "./keeper-answers.ts";
import { epochHeader, guestProtocol, type KeeperCall, pulseMs, type Sent } from "./keeper-calls.ts";

const connectMs = 3_000;
/** A keeper says something at least once in `pulseMs`. */
const silenceMs = 4 * pulseMs;
/** The longest call that changes a machine, and any other. A keeper that only goes on talking holds nobody up for longer. */
const changeMs = 30 * 60_000;
const askMs = 30_000;

/** Where a machine's keeper is, and what proves to it that a server asks. */
export interface KeeperAddress {
  host: string;
  port: number;
  token: string;
  epoch: number;
}

export interface CallOptions {
  progress?: Progress;
  signal?: AbortSignal;
}

/** The keeper could not be reached, or was lost before it answered; the call may have been done. */
export class KeeperLost extends Error {
  override readonly name = "KeeperLost";
}

/** Asks a keeper. Throws its `BerthError`s, and `KeeperLost`. */
export async function askKeeper<Call extends KeeperCall>(
  address: KeeperAddress,
  call: Call,
  sent: Sent<Call>,
  { progress, signal }: CallOptions = {},
): Promise<Awaited<ReturnType<Driver[Call]>>> {
  const body = Buffer.from(JSON.stringify(sent));
  const limits = [...(signal ? [signal] : []), ...timeLimit(call)];
  const asked = ask(address, `/calls/${call}`, {
    method: "POST",
    "content-length": body.length,
    signal: AbortSignal.any(limits),
  });
  asked.end(body);
  try {
    for await (const text of linesOf(call, await answerTo(asked))) {
      if (text === "") continue;
      const line = AnswerLine.parse(JSON.parse(text));
      if ("plan" in line) progress?.plan(line.plan);
      else if ("begin" in line) progress?.begin(line.begin);
      else if ("error" in line) throw new BerthError(line.error.code, line.error.message);
      else return resultOf(call, sent, line.result);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof BerthError) throw error;
    throw new KeeperLost("the machine's pod does not answer", { cause: error });
  } finally {
    asked.destroy();
  }
  throw new KeeperLost("the machine's pod was lost while it worked");
}

function timeLimit(call: KeeperCall): AbortSignal[] {
  if (call === "ended") return [];
  return [AbortSignal.timeout(changing.has(call) ? changeMs : askMs)];
}

function answerTo(asked: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.once("response", resolve);
    asked.once("error", reject);
    asked.once("close", () => reject(new Error("it did not answer")));
    asked.once("upgrade", (_, socket: Socket) => {
      socket.destroy();
      reject(new Error("it did not answer the call"));
    });
  });
}

/** A connection to the guest of the machine `id`. Throws `machine_lost`. */
export async function dialGuest(address: KeeperAddress, id: string): Promise<Socket> {
  const asked = ask(address, `/guests/${id}`, { connection: "upgrade", upgrade: guestProtocol });
  const limit = setTimeout(() => asked.destroy(), askMs);
  const socket = await new Promise<Socket | null>((resolve) => {
    asked.once("upgrade", (_, upgraded: Socket, head: Buffer) => {
      if (head.length > 0) upgraded.unshift(head);
      resolve(upgraded);
    });
    for (const refused of ["response", "error", "close"]) asked.once(refused, () => resolve(null));
    asked.end();
  });
  clearTimeout(limit);
  if (socket) return socket.setTimeout(0);
  asked.destroy();
  throw new BerthError("machine_lost", "The agent's machine does not run.");
}

function ask(
  { host, port, token, epoch }: KeeperAddress,
  path: string,
  {
    method = "GET",
    signal,
    ...headers
  }: { method?: string; signal?: AbortSignal | undefined; [header: string]: unknown },
): ClientRequest {
  const asked = request({
    host,
    port,
    path,
    method,
    headers: { ...(headers as Record<string, string>), authorization: `Bearer ${token}`, [epochHeader]: epoch },
    agent: false,
    ...(signal ? { signal } : {}),
  });
  asked.on("error", () => {});
  asked.setTimeout(connectMs, () => asked.destroy(new Error("no connection")));
  asked.once("socket", (socket) => socket.once("connect", () => asked.setTimeout(silenceMs)));
  return asked;
}
