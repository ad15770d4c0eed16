import { z } from "zod";
import { Agent, AgentParams, WaitQuery } from "../agents.ts";
import { TurnChangesWithDiffs } from "../changes.ts";
import {
  AccountTurnList,
  AccountTurnsQuery,
  ChatRequest,
  TurnEvent,
  TurnEventsQuery,
  TurnList,
  TurnParams,
  TurnRecord,
  TurnsQuery,
} from "../chat.ts";
import { chatReading, chatting, reading, route, using } from "../route.ts";
import { maximumChatBytes } from "../uploads.ts";

/** Messages to agents and their turns. An external agent key sees only the turns that it started. */
export const chatRoutes = {
  chat: route({
    method: "POST",
    path: "/agents/{name}/chat",
    summary: "Send a message and stream the reply",
    description:
      "A server-sent event stream of TurnEvent objects. The turn continues if the client disconnects. A request is limited to 8 MiB: larger files are uploaded first.",
    params: AgentParams,
    body: ChatRequest,
    maximumBytes: maximumChatBytes,
    responses: {},
    permission: chatting,
    stream: TurnEvent,
    traced: true,
  }),
  listTurns: route({
    method: "GET",
    path: "/agents/{name}/turns",
    summary: "List an agent's turns, newest first",
    params: AgentParams,
    query: TurnsQuery,
    responses: { 200: TurnList },
    permission: reading,
    by: "any",
  }),
  listAccountTurns: route({
    method: "GET",
    path: "/turns",
    summary: "List the newest turns of all agents",
    description: "Summaries: `GET /agents/{name}/turns/{turnId}` returns the complete message and reply.",
    query: AccountTurnsQuery,
    responses: { 200: AccountTurnList },
    permission: reading,
  }),
  getTurn: route({
    method: "GET",
    path: "/agents/{name}/turns/{turnId}",
    summary: "Read a turn",
    params: TurnParams,
    responses: { 200: TurnRecord },
    permission: chatReading,
    by: "any",
  }),
  getTurnEvents: route({
    method: "GET",
    path: "/agents/{name}/turns/{turnId}/events",
    summary: "Read a turn's events, from the start or from a cursor",
    params: TurnParams,
    query: TurnEventsQuery,
    responses: { 200: z.null(), 204: z.null() },
    permission: chatReading,
    stream: TurnEvent,
    by: "leader, or any",
  }),
  getTurnChanges: route({
    method: "GET",
    path: "/agents/{name}/turns/{turnId}/changes",
    summary: "Read the files that a turn changed, with their diffs",
    description:
      "Files of the agent's home that were created, changed or deleted between the turn's begin and its end, by whatever program or person. 404 `changes_unknown` if it is not known.",
    params: TurnParams,
    responses: { 200: TurnChangesWithDiffs },
    permission: reading,
    by: "any",
  }),
  restoreTurn: route({
    method: "POST",
    path: "/agents/{name}/turns/{turnId}/restore",
    summary: "Roll the agent back to before a turn",
    description:
      "As a rollback to the snapshot from before the turn, which `autoSnapshot` keeps for the agent's last turns: files and conversations. The machine boots. Without the snapshot, 404 `snapshot_not_found`.",
    params: TurnParams,
    query: WaitQuery,
    responses: { 200: Agent },
    permission: using,
  }),
  cancelTurn: route({
    method: "POST",
    path: "/agents/{name}/turns/{turnId}/cancel",
    summary: "Cancel a turn",
    params: TurnParams,
    responses: { 202: z.object({}) },
    permission: chatting,
  }),
};
