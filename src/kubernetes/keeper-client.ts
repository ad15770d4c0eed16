import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { BerthError } from "../contract/errors.ts";
import { parseValue } from "../contract/validation.ts";
import { parseJson } from "../core/json-structure.ts";
import { changes } from "../machines/driver-calls.ts";
import type { Progress } from "../machines/spec.ts";
import { AnswerLine, linesOf, Refusal, resultOf } from "./keeper-answers.ts";
import {
  epochHeader,
  guestProtocol,
  type KeeperCall,
  type Outcome,
  type Passed,
  pathOf,
  pulseMs,
  type Sent,
  uplinkPath,
} from "./keeper-calls.ts";

const connectMs = 3_000;
/** A keeper sends something at least once in `pulseMs`. */
const silenceMs = 4 * pulseMs;
/** A keeper sends its files after its current call, which may be a suspension. */
const filesSilenceMs = 300_000;
/**
 * Time limits of a call that changes a machine, and of any other. A keeper that only keeps sending lines delays no
 * caller for longer.
 */
const changeMs = 30 * 60_000;
const askMs = 30_000;
const maximumRefusal = 64 * 1024;

/** A keeper's address, and the server's credentials. */
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

/** The keeper could not be reached, or was lost before it answered. The call may have been done. */
export class KeeperLost extends Error {
  override readonly name = "KeeperLost";
}

/** Throws the keeper's `BerthError`s, and `KeeperLost`. */
export async function askKeeper<Call extends KeeperCall>(
  address: KeeperAddress,
  call: Call,
  sent: Sent<Call>,
  options: CallOptions = {},
): Promise<Outcome<Call>> {
  const { signal } = options;
  const body = Buffer.from(JSON.stringify(sent));
  const limits = [...(signal ? [signal] : []), ...timeLimit(call)];
  const asked = ask(address, `/calls/${call}`, {
    method: "POST",
    "content-length": body.length,
    signal: AbortSignal.any(limits),
  });
  asked.end(body);
  return answerTo(asked, (told) => resultOf(call, sent, told), options);
}

function timeLimit(call: KeeperCall): AbortSignal[] {
  if (call === "ended") return [];
  return [AbortSignal.timeout(changes(call) ? changeMs : askMs)];
}

/** Reads a response to its last line, and parses that with `read`. */
async function answerTo<Result>(
  asked: ClientRequest,
  read: (told: unknown) => Result,
  { progress, signal }: CallOptions = {},
): Promise<Result> {
  try {
    for await (const text of linesOf(await responseTo(asked))) {
      if (text === "") continue;
      const line = parseValue(AnswerLine, parseJson(Buffer.from(text)));
      if ("plan" in line) progress?.plan(line.plan);
      else if ("begin" in line) progress?.begin(line.begin);
      else if ("error" in line) throw new BerthError(line.error.code, line.error.message);
      else return read(line.result);
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

async function responseTo(asked: ClientRequest): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve);
    asked.once("error", reject);
    asked.once("close", () => reject(new Error("it did not answer")));
    asked.once("upgrade", (_, socket: Socket) => {
      socket.destroy();
      reject(new Error("it did not answer the call"));
    });
  });
  // The reader gets the error, also if the response ends later.
  return response.on("error", () => {});
}

/** Throws `machine_lost`. */
export async function dialGuest(address: KeeperAddress, id: string): Promise<Socket> {
  const asked = ask(address, `/guests/${id}`, { connection: "upgrade", upgrade: guestProtocol });
  const limit = setTimeout(() => asked.destroy(), askMs);
  const socket = await connectionOf(asked);
  clearTimeout(limit);
  if (socket) return socket;
  throw new BerthError("machine_lost", "The agent's machine does not run.");
}

/**
 * Waits for the model calls of a template that the keeper makes. Resolves with their connection, or with null if the
 * keeper is lost or `signal` aborts.
 */
export async function awaitUplink(address: KeeperAddress, signal: AbortSignal): Promise<Socket | null> {
  return connectionOf(
    ask(address, uplinkPath, { connection: "upgrade", upgrade: guestProtocol, signal, silenceMs: 0 }),
  );
}

/** Null if the keeper refuses or is lost. */
async function connectionOf(asked: ClientRequest): Promise<Socket | null> {
  const socket = await new Promise<Socket | null>((resolve) => {
    asked.once("upgrade", (_, upgraded: Socket, head: Buffer) => {
      if (head.length > 0) upgraded.unshift(head);
      resolve(upgraded);
    });
    for (const refused of ["response", "error", "close"]) asked.once(refused, () => resolve(null));
    asked.end();
  });
  if (!socket) asked.destroy();
  return socket?.setTimeout(0) ?? null;
}

export interface Passage {
  from: KeeperAddress;
  to: KeeperAddress;
  maximumBytes: number;
  signal: AbortSignal;
}

/**
 * Passes files of one machine to another one's keeper, which alone reads them. Throws the keepers' `BerthError`s, and
 * `KeeperLost`.
 */
export async function passFiles(passed: Passed, { from, to, maximumBytes, signal }: Passage): Promise<void> {
  const asked = askFiles(passed, from, signal);
  try {
    const files = await filesIn(asked);
    const sent = ask(to, pathOf(passed), { method: "POST", signal });
    const sending = pipeline(files, (source: AsyncIterable<Buffer>) => atMost(source, maximumBytes), sent);
    sending.catch(() => {}); // The other keeper reports its error; a silent one counts as lost.
    await answerTo(sent, () => {});
  } catch (error) {
    throw asLost(error);
  } finally {
    asked.destroy();
  }
}

/** A machine's files, a tar archive of at most `maximumBytes`. Throws as `passFiles`. */
export async function* readFiles(
  passed: Passed,
  { from, maximumBytes, signal }: Omit<Passage, "to">,
): AsyncGenerator<Buffer> {
  const asked = askFiles(passed, from, signal);
  try {
    yield* atMost(await filesIn(asked), maximumBytes);
  } catch (error) {
    signal.throwIfAborted();
    throw asLost(error);
  } finally {
    asked.destroy();
  }
}

function askFiles(passed: Passed, from: KeeperAddress, signal: AbortSignal): ClientRequest {
  const asked = ask(from, pathOf(passed), { signal, silenceMs: filesSilenceMs });
  asked.end();
  return asked;
}

async function filesIn(asked: ClientRequest): Promise<IncomingMessage> {
  const files = await responseTo(asked);
  if (files.statusCode !== 200) throw await refusalIn(files);
  return files;
}

function asLost(error: unknown): unknown {
  if (error instanceof BerthError || error instanceof KeeperLost) return error;
  return new KeeperLost("the machine's pod does not give its files", { cause: error });
}

async function* atMost(source: AsyncIterable<Buffer>, maximum: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > maximum) throw new Error("the machine's pod gives more than its volume holds");
    yield piece;
  }
}

async function refusalIn(response: IncomingMessage): Promise<BerthError> {
  let text = "";
  for await (const piece of atMost(response, maximumRefusal)) text += piece;
  const { code, message } = parseValue(Refusal, parseJson(Buffer.from(text)));
  return new BerthError(code, message);
}

function ask(
  { host, port, token, epoch }: KeeperAddress,
  path: string,
  {
    method = "GET",
    signal,
    silenceMs: quietMs = silenceMs,
    ...headers
  }: { method?: string; signal?: AbortSignal | undefined; silenceMs?: number; [header: string]: unknown },
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
  asked.once("socket", (socket) => socket.once("connect", () => asked.setTimeout(quietMs)));
  return asked;
}
