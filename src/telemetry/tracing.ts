import { setTimeout as sleep } from "node:timers/promises";
import type * as otel from "@opentelemetry/api";
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode, parseTraceParent } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { Facts, Span, TraceOrigin, Tracer } from "./span.ts";

// Loaded only if traces are on. The SDK reads other settings from its own variables, `OTEL_…`.

/** How long an ending server waits for its last spans to be sent. */
const lastSpansMs = 1_000;

export interface TracingOptions {
  /** Where spans are sent, as OTLP in JSON over HTTP. */
  url: string;
  /** Which part of all traces is kept, from 0 to 1. */
  ratio: number;
  version: string;
  /** This server's name. */
  server: string;
  warn: (message: string, error: unknown) => void;
}

/** Sends traces to a collector of OpenTelemetry. Spans that it does not take in time are dropped. */
export class OpenTelemetry implements Tracer, AsyncDisposable {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: otel.Tracer;

  constructor({ url, ratio, version, server, warn }: TracingOptions) {
    const own = resourceFromAttributes({
      "service.name": "berth",
      "service.version": version,
      "service.instance.id": server,
    });
    this.#provider = new BasicTracerProvider({
      resource: own.merge(detectResources({ detectors: [envDetector] })),
      sampler: ownDecision(new TraceIdRatioBasedSampler(ratio)),
      spanProcessors: [new BatchSpanProcessor(warningOnce(new OTLPTraceExporter({ url }), url, warn))],
    });
    this.#tracer = this.#provider.getTracer("berth", version);
  }

  begin(name: string, facts: Facts, origin: TraceOrigin | null): Span {
    const kind = origin ? SpanKind.SERVER : SpanKind.INTERNAL;
    const context = origin ? contextOf(origin) : ROOT_CONTEXT;
    return new TracedSpan(this.#tracer, this.#tracer.startSpan(name, { kind, attributes: { ...facts } }, context));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sent = new AbortController();
    const late = sleep(lastSpansMs, undefined, { signal: sent.signal }).catch(() => {});
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    sent.abort();
  }
}

class TracedSpan implements Span {
  readonly #tracer: otel.Tracer;
  readonly #span: otel.Span;
  #hasEnded = false;

  constructor(tracer: otel.Tracer, span: otel.Span) {
    this.#tracer = tracer;
    this.#span = span;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
  }

  begin(name: string, facts: Facts = {}, kind?: "client"): Span {
    const options = { kind: kind ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes: { ...facts } };
    const span = this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, this.#span));
    return new TracedSpan(this.#tracer, span);
  }

  add(facts: Facts): void {
    if (!this.#hasEnded) this.#span.setAttributes({ ...facts });
  }

  mark(name: string, facts: Facts = {}): void {
    if (!this.#hasEnded) this.#span.addEvent(name, { ...facts });
  }

  end(code: string | null = null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (code !== null) {
      this.#span.setAttribute("error.type", code);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** The context of a request. An invalid `traceparent` is ignored. */
function contextOf({ traceparent, isOurs }: TraceOrigin): Context {
  const parent = traceparent === null ? null : parseTraceParent(traceparent);
  // The sampler takes the word of a parent that is not remote.
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: !isOurs }) : ROOT_CONTEXT;
}

/**
 * Decides once for each trace, at its first span in this installation. A client chooses its trace's id and nothing else:
 * neither the flag that it sends nor an id made for it has its trace kept.
 */
function ownDecision(configured: Sampler): Sampler {
  const ids = new RandomIdGenerator();
  const root: Sampler = {
    shouldSample: (_context, _traceId, ...span) =>
      configured.shouldSample(ROOT_CONTEXT, ids.generateTraceId(), ...span),
    toString: () => configured.toString(),
  };
  return new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
}

/** The exporter, which warns when spans are first not taken, and again only after some were. */
function warningOnce(exporter: SpanExporter, url: string, warn: TracingOptions["warn"]): SpanExporter {
  let isFailing = false;
  const note = ({ code, error }: ExportResult) => {
    const fails = code !== ExportResultCode.SUCCESS;
    const place = new URL(url).origin;
    if (fails && !isFailing) warn(`traces are dropped: the collector at ${place} does not take them`, error);
    isFailing = fails;
  };
  return {
    export: (spans: ReadableSpan[], done: (result: ExportResult) => void) =>
      exporter.export(spans, (result) => {
        note(result);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
