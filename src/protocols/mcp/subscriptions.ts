import { createMcpHandler, type McpHandlerRequestOptions, type McpServerFactory } from "@modelcontextprotocol/server";
import type { AppContext } from "../../context.ts";
import type { Viewer } from "../../core/http/access.ts";
import type { AccountEvents } from "../../events/account-events.ts";

/** Whether a request opens a stream of notifications. */
export function isSubscription(body: unknown): boolean {
  return (body as { method?: unknown } | null)?.method === "subscriptions/listen";
}

/** Streams of notifications: the list of resources has changed, as it does with the list of agents. */
export class Subscriptions {
  readonly #servers: McpServerFactory;
  readonly #events: AccountEvents;
  readonly #onerror: (error: Error) => void;

  constructor(servers: McpServerFactory, { events }: AppContext, onerror: (error: Error) => void) {
    this.#servers = servers;
    this.#events = events;
    this.#onerror = onerror;
  }

  /** The stream of one client, whose notifications are those of its caller alone, until the request is aborted. */
  async open(request: Request, options: McpHandlerRequestOptions, viewer: Viewer): Promise<Response> {
    const handler = createMcpHandler(this.#servers, { onerror: this.#onerror });
    const events = this.#events.read(viewer, null, request.signal);
    // The position is known before the client is: no change after the acknowledgement is missed.
    await events.next();
    const answer = await handler.fetch(request, options);
    void this.#follow(events, () => handler.notify.resourcesChanged()).finally(() => handler.close());
    return answer;
  }

  async #follow(events: ReturnType<AccountEvents["read"]>, changed: () => void): Promise<void> {
    try {
      for await (const batch of events)
        if (batch.some(({ type }) => type === "agent.created" || type === "agent.deleted" || type === "events.dropped"))
          changed();
    } catch (error) {
      this.#onerror(error as Error);
    }
  }
}
