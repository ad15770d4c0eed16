import type { Duplex } from "node:stream";
import { z } from "zod";

/** A request and a response, both JSON. */
interface Call<Request extends z.ZodType = z.ZodType, Response extends z.ZodType = z.ZodType> {
  kind: "call";
  request: Request;
  response: Response;
  /** The default timeout of the response, in milliseconds. */
  timeoutMs(request: z.output<Request>): number;
  /** The limit of the response, in bytes. */
  maximumBytes(request: z.output<Request>): number;
  /** The call sets the guest's clock itself, so it is not advanced before. */
  setsClock: boolean;
}

/** A JSON request, then a response of JSON items, one per line, until either end closes. */
interface Lines<Request extends z.ZodType = z.ZodType, Item extends z.ZodType = z.ZodType> {
  kind: "lines";
  request: Request;
  item: Item;
  /** The limit of the response, in bytes. */
  maximumBytes(request: z.output<Request>): number;
}

/** A JSON request, then bytes in both directions, which close independently. */
interface Bytes<Request extends z.ZodType = z.ZodType> {
  kind: "duplex";
  request: Request;
}

/** Calls by name. */
export type CallTable = Record<string, Call | Lines | Bytes>;

export function call<Request extends z.ZodType, Response extends z.ZodType>({
  request,
  response,
  timeoutMs,
  maximumBytes,
  setsClock = false,
}: {
  request: Request;
  response: Response;
  timeoutMs: number | ((request: z.output<Request>) => number);
  maximumBytes: number | ((request: z.output<Request>) => number);
  setsClock?: boolean;
}): Call<Request, Response> {
  return {
    kind: "call",
    request,
    response,
    timeoutMs: always(timeoutMs),
    maximumBytes: always(maximumBytes),
    setsClock,
  };
}

function always<Argument>(value: number | ((of: Argument) => number)): (of: Argument) => number {
  return typeof value === "number" ? () => value : value;
}

export function lines<Request extends z.ZodType, Item extends z.ZodType>({
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

/** A call with bytes in both directions. */
export function duplex<Request extends z.ZodType>({ request }: { request: Request }): Bytes<Request> {
  return { kind: "duplex", request };
}

export const nothing = z.object({});
/** Limits of responses, in bytes of JSON. `few`: fixed fields; escaping may lengthen a text field sixfold. */
export const noBytes = 1024;
export const fewBytes = 128 * 1024;
export const mostBytes = 16 * 1024 * 1024;
/** For calls that the guest answers at once. */
export const quickTimeoutMs = 10_000;
/** For listing a folder, which may be very large, and be the first call after a wake. */
export const filesMs = 60_000;

/** Ends a call early: after this timeout instead of the table's, or when its caller aborts. */
export interface GuestCallOptions {
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/**
 * One function per call in a table. A `call` rejects when it times out. A `lines` call sends its request on the first
 * step, yields items as they arrive and ends when `signal` aborts; it throws if the guest does not start responding in
 * time. A `duplex` call resolves when the guest has accepted it, and rejects when that takes too long.
 */
export type ClientOf<Table extends CallTable> = {
  [Name in keyof Table]: Table[Name] extends { kind: "call"; response: infer Response extends z.ZodType }
    ? (request: z.input<Table[Name]["request"]>, options?: GuestCallOptions) => Promise<z.output<Response>>
    : Table[Name] extends { kind: "lines"; item: infer Item extends z.ZodType }
      ? (request: z.input<Table[Name]["request"]>, options?: GuestCallOptions) => AsyncGenerator<z.output<Item>[]>
      : (request: z.input<Table[Name]["request"]>, options?: GuestCallOptions) => Promise<Duplex>;
};
