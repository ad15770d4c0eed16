import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A span as a collector gets it. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty: it is the first of its trace. */
  parentSpanId: string;
  name: string;
  /** 1: internal; 2: server; 3: client. */
  kind: number;
  /** Nanoseconds since 1970. */
  start: bigint;
  end: bigint;
  facts: Record<string, unknown>;
  events: string[];
  /** The attributes of who sent it. */
  from: Record<string, unknown>;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface SentSpan extends Omit<CollectedSpan, "start" | "end" | "facts" | "events" | "from"> {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  events: { name: string }[];
}

interface Sent {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[];
}

/** A receiver of OTLP over HTTP, as a collector of OpenTelemetry is one. */
export class TraceCollector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  /** All that was received. */
  text = "";
  /** Headers of the last request. */
  headers: NodeJS.Dict<string | string[]> = {};
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const sent = (await json(request)) as Sent;
      this.text += JSON.stringify(sent);
      this.headers = request.headers;
      this.spans.push(...sent.resourceSpans.flatMap(spansIn));
      response.setHeader("content-type", "application/json").end("{}");
    });
  }

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    await once(collector.#server.listen(0, "127.0.0.1"), "listening");
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/traces`;
  }

  of(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function spansIn({ resource, scopeSpans }: Sent["resourceSpans"][number]): CollectedSpan[] {
  const from = plain(resource.attributes);
  return scopeSpans
    .flatMap(({ spans }) => spans)
    .map(({ startTimeUnixNano, endTimeUnixNano, attributes, events, parentSpanId = "", ...span }) => ({
      ...span,
      parentSpanId,
      start: BigInt(startTimeUnixNano),
      end: BigInt(endTimeUnixNano),
      facts: plain(attributes),
      events: events.map(({ name }) => name),
      from,
    }));
}

function plain(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
