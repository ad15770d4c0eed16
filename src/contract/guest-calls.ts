import { z } from "zod";
import {
  Activity,
  Adoption,
  Exec,
  ExecResult,
  GuestSecrets,
  Health,
  JournalEntry,
  maximumLogBytes,
  Prompt,
  Quiesced,
} from "./guest.ts";
import { uuidPattern } from "./ids.ts";

/** A request and a response, both JSON. */
interface Call<Request extends z.ZodType = z.ZodType, Response extends z.ZodType = z.ZodType> {
  kind: "call";
  request: Request;
  response: Response;
  /** How long the server waits for the response where it does not say. */
  timeoutMs(request: z.output<Request>): number;
  /** The guest's clock is not set ahead of this call, which sets it itself. */
  setsClock: boolean;
}

/** A JSON request, answered by items of JSON, a line each, until the guest or the server has had enough. */
interface Lines<Request extends z.ZodType = z.ZodType, Item extends z.ZodType = z.ZodType> {
  kind: "lines";
  request: Request;
  item: Item;
  /** What the server takes of the answer before it hangs up, in bytes. */
  maximumBytes(request: z.output<Request>): number;
}

/** A JSON request, then bytes both ways; each way ends by itself. */
interface Duplex<Request extends z.ZodType = z.ZodType> {
  kind: "duplex";
  request: Request;
}

/** Calls by their names. */
export type CallTable = Record<string, Call | Lines | Duplex>;

function call<Request extends z.ZodType, Response extends z.ZodType>({
  request,
  response,
  timeoutMs,
  setsClock = false,
}: {
  request: Request;
  response: Response;
  timeoutMs: number | ((request: z.output<Request>) => number);
  setsClock?: boolean;
}): Call<Request, Response> {
  const limit = typeof timeoutMs === "number" ? () => timeoutMs : timeoutMs;
  return { kind: "call", request, response, timeoutMs: limit, setsClock };
}

function lines<Request extends z.ZodType, Item extends z.ZodType>({
  request,
  item,
  maximumBytes = () => Number.POSITIVE_INFINITY,
}: {
  request: Request;
  item: Item;
  maximumBytes?: (request: z.output<Request>) => number;
}): Lines<Request, Item> {
  return { kind: "lines", request, item, maximumBytes };
}

/** A call of bytes both ways. */
export function duplex<Request extends z.ZodType>({ request }: { request: Request }): Duplex<Request> {
  return { kind: "duplex", request };
}

const nothing = z.object({});
/** What the guest does at once. */
const quickTimeoutMs = 10_000;
const turnId = z.string().regex(uuidPattern);

/**
 * All that the server can ask of a guest, on its control channel. The server's client and the runner's dispatcher are
 * both made from this table: a request is checked in the guest, and what a guest answers is checked by the server.
 */
export const guestCalls = {
  /** Makes the guest its agent's own. A machine that boots takes the longest to answer. */
  adopt: call({ request: Adoption, response: Health, timeoutMs: 180_000, setsClock: true }),
  /**
   * Starts the runtime where it does not run; answered when it is ready or has failed. The slowest runtime takes 20
   * CPU-seconds to start, twenty times as long under emulation.
   */
  startRuntime: call({ request: nothing, response: Health, timeoutMs: 1_800_000 }),
  /** Starts the runtime and makes its throwaway turns: up to four minutes under emulation, of OpenClaw fifteen. */
  warmUp: call({ request: nothing, response: Health, timeoutMs: 2_700_000 }),
  /** Begins the turn of this id, or finds it begun; answers its events from the first, to the turn's end. */
  prompt: lines({ request: Prompt.extend({ turnId }), item: JournalEntry }),
  /** A turn's events after `after`, to the turn's end. Fails with `turn_unknown`. */
  turnEvents: lines({ request: z.object({ turnId, after: z.int().min(0) }), item: JournalEntry }),
  /** Interrupts a turn; its events then come to their end. One whose prompt is still on its way does nothing. */
  cancel: call({ request: z.object({ turnId }), response: nothing, timeoutMs: quickTimeoutMs }),
  /**
   * Empties the runtime's conversation now where it is in another than this one and at rest. Where it is not, the next
   * prompt has it done.
   */
  enterConversation: call({
    request: z.object({ conversation: z.int() }),
    response: nothing,
    timeoutMs: 60_000,
  }),
  /** Gives the machine what it has of the agent's secrets from now on. */
  provideSecrets: call({ request: GuestSecrets, response: nothing, timeoutMs: quickTimeoutMs }),
  /** Before the machine is suspended or stopped: all that was written reaches its disk. */
  quiesce: call({ request: nothing, response: Quiesced, timeoutMs: 20_000 }),
  /** Looks for a second. */
  activity: call({ request: nothing, response: Activity, timeoutMs: quickTimeoutMs }),
  /**
   * The last `tail` lines of the output of the runner and the runtime, and with `follow` those that come until the server
   * hangs up. Without it no more is taken than a log of `maximumLogBytes` comes to in JSON, whatever is in it.
   */
  log: lines({
    request: z.object({ tail: z.int().min(0), follow: z.boolean() }),
    item: z.object({ lines: z.array(z.string()) }),
    maximumBytes: ({ follow }) => (follow ? Number.POSITIVE_INFINITY : 8 * maximumLogBytes),
  }),
  /** Runs a command. */
  exec: call({ request: Exec, response: ExecResult, timeoutMs: ({ timeoutMs }) => timeoutMs + 10_000 }),
} as const satisfies CallTable;
