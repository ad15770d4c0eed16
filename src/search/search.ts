import { setImmediate } from "node:timers/promises";
import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { SearchMatch } from "../contract/search.ts";
import type { Caller } from "../core/http/caller.ts";
import type { Sought as SoughtPage } from "../core/http/paging.ts";
import { excerptOf } from "./excerpt.ts";
import { type Candidate, type SearchPlace, searchMs } from "./store.ts";
import { matchesIn, queryOf, type Range, termsOf } from "./terms.ts";
import { accountWord, agentWord } from "./words.ts";

/** The most candidates that a request reads, and the characters in which it looks for matches: that takes the processor. */
const mostCandidates = 400;
const mostCharacters = 2 * 1024 * 1024;

export interface SearchRequest {
  search: string;
  /** Null: all agents. */
  agent: AgentState | null;
  caller: Caller;
  after: SearchPlace | null;
  limit: number;
}

/** Messages and replies that match a search. */
export class Search {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Throws `request_invalid`, `search_timeout`. */
  async find({ search, agent, caller, after, limit }: SearchRequest): Promise<SoughtPage<Match, SearchPlace>> {
    const terms = termsOf(search);
    const scope = [accountWord(caller.accountId), ...(agent ? [agentWord(agent.id)] : [])];
    const sought = { query: queryOf(terms, scope), caller, agentId: agent?.id ?? null };
    const found: Match[] = [];
    let place = after;
    for (let candidates = 0, characters = 0; ; ) {
      const size = Math.min(limit, mostCandidates - candidates);
      const page = await this.#candidates({ ...sought, after: place }, size);
      for (const candidate of page) {
        place = candidate;
        const matches = matchesIn(candidate.text, terms);
        if (matches) found.push({ ...candidate, matches });
        if (found.length === limit) return { found, stoppedAt: null };
        characters += candidate.text.length;
        if (characters > mostCharacters) return { found, stoppedAt: place };
        await setImmediate();
      }
      candidates += page.length;
      if (page.length < size) return { found, stoppedAt: null };
      if (candidates === mostCandidates) return { found, stoppedAt: place };
    }
  }

  async #candidates(
    sought: Parameters<AppContext["stores"]["search"]["find"]>[0],
    limit: number,
  ): Promise<Candidate[]> {
    try {
      return await this.#context.stores.search.find(sought, limit);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const message = `The search took longer than ${searchMs / 1000} s: add a word, or name an agent with \`agent\`.`;
      throw new BerthError("search_timeout", message, { cause: error });
    }
  }
}

/** A text that matches, and where. */
export interface Match extends Candidate {
  matches: Range[];
}

/** PostgreSQL has cancelled the statement. */
function isTimeout(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === "57014";
}

export function toView({ text, matches, agent, conversation, title, turnId, kind, createdAt }: Match): SearchMatch {
  return {
    agent,
    conversation: { id: conversation, title },
    turnId,
    kind,
    createdAt: createdAt.toISOString(),
    ...excerptOf(text, matches),
  };
}
