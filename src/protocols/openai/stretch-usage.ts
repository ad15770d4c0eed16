import type { SequencedEvent, Usage } from "../../contract/chat.ts";
import type { ResponseState } from "./stored-responses.ts";

/** The start number for a response's events: the event before its first one has the usage until then. */
export function readFrom({ afterSeq }: Pick<ResponseState, "afterSeq">): number {
  return Math.max(afterSeq - 1, 0);
}

/**
 * The usage of a response, which is a part of a turn: its model calls since the previous response. So the usages of a
 * turn's responses add up to the turn's.
 */
export class StretchUsage {
  readonly #afterSeq: number;
  #before: Usage | null = null;

  constructor({ afterSeq }: Pick<ResponseState, "afterSeq">) {
    this.#afterSeq = afterSeq;
  }

  /** Whether the event is one of the response's; of one before it, keeps its usage. */
  isWithin({ seq, event }: SequencedEvent): boolean {
    if (seq > this.#afterSeq) return true;
    this.#before = ("usage" in event && event.usage) || null;
    return false;
  }

  /** The response's part of the turn's usage so far; null if the turn's is unknown. */
  of(usage: Usage | undefined): Usage | null {
    const before = this.#before;
    if (!usage || !before) return usage ?? null;
    const since = (name: Exclude<keyof Usage, "credits" | "contextTokens" | "contextLimit">) =>
      Math.max(usage[name] - before[name], 0);
    return {
      ...usage,
      inputTokens: since("inputTokens"),
      outputTokens: since("outputTokens"),
      cacheReadTokens: since("cacheReadTokens"),
      cacheWriteTokens: since("cacheWriteTokens"),
      reasoningTokens: since("reasoningTokens"),
      credits: null,
    };
  }
}
