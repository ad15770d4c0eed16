/**
 * A span's content in addition to its times: numbers, and words that the service itself chose. Never text from a user,
 * an agent or a provider.
 */
export type Facts = Readonly<Record<string, string | number | boolean>>;

/** A stretch of time in a trace. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** For another server of the installation, as W3C's header of this name has it. */
  readonly traceparent: string;
  /** Begins a span within this one. `client`: something else is asked, and answers. */
  begin(name: string, facts?: Facts, kind?: "client"): Span;
  add(facts: Facts): void;
  /** Something happens now. */
  mark(name: string, facts?: Facts): void;
  /** Ends it, now. `code`: what failed; null: nothing. A second call does nothing. */
  end(code?: string | null): void;
}

/** Where a request comes from. */
export interface TraceOrigin {
  /** The header `traceparent`; null without one. */
  traceparent: string | null;
  /** Another server of the installation said it, whose word holds for whether the trace is kept. A client's does not. */
  isOurs: boolean;
}

/** Begins traces. */
export interface Tracer {
  /** A request's span, or with null the first of a trace of its own. */
  begin(name: string, facts: Facts, origin: TraceOrigin | null): Span;
}
