import type { FastifyPluginAsync } from "fastify";
import { type AgentState, requireHere } from "../agents/agent.ts";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { Queue } from "../contract/queue.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";

/** `/agents/{name}/queue`, and changes of queued turns. */
export function queueRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, leases, turns } = context;
  const { queues } = context.stores;

  async function view({ id, queueHeld }: AgentState): Promise<Queue> {
    const messages = await queues.list(id);
    const data = messages.map(({ queuedAt, ...message }, index) => ({
      ...message,
      position: index + 1,
      queuedAt: queuedAt.toISOString(),
    }));
    return { held: data.length === 0 ? null : queueHeld, data };
  }

  return async (app) => {
    handle(app, routes.getQueue, async (request) => view(await findAgent(agents, request, request.params.name)));

    handle(app, routes.actOnQueue, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      requireHere(agent);
      if (request.body.action === "discard") await queues.discard(agent.id);
      else {
        await leases.admit(agent, request.caller);
        const next = await queues.resume(agent.id);
        if (next !== null) await turns.beginQueued(next);
      }
      return view({ ...agent, queueHeld: null });
    });

    handle(app, routes.changeQueuedTurn, async (request) => {
      const { name, turnId } = request.params;
      const agent = await findAgent(agents, request, name);
      requireHere(agent);
      const turn = await turns.find(agent.id, turnId);
      if (!(await queues.change(agent.id, turn.id, request.body))) {
        throw new BerthError("turn_not_queued", "The turn does not wait any more: it has begun or ended.");
      }
      return view(agent);
    });
  };
}
