import { AgentParams } from "../agents.ts";
import { TurnParams } from "../chat.ts";
import { ChangeQueuedTurn, Queue, QueueAction } from "../queue.ts";
import { reading, route, using } from "../route.ts";

/** The messages that wait until an agent has answered. A message is queued by `whenBusy` of a chat. */
export const queueRoutes = {
  getQueue: route({
    method: "GET",
    path: "/agents/{name}/queue",
    summary: "List the messages that wait for an agent",
    params: AgentParams,
    responses: { 200: Queue },
    permission: reading,
    by: "any",
  }),
  actOnQueue: route({
    method: "POST",
    path: "/agents/{name}/queue",
    summary: "Resume or discard an agent's queue",
    description:
      "A turn that is cancelled or that fails holds the queue: the messages behind it wait until this call. To remove one message, cancel its turn.",
    params: AgentParams,
    body: QueueAction,
    responses: { 200: Queue },
    permission: using,
  }),
  changeQueuedTurn: route({
    method: "PATCH",
    path: "/agents/{name}/turns/{turnId}",
    summary: "Change the text or the place of a queued message",
    params: TurnParams,
    body: ChangeQueuedTurn,
    responses: { 200: Queue },
    permission: using,
  }),
};
