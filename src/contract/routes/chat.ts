import { z } from "zod";
import { AgentParams } from "../agents.ts";
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
import { chatReading, chatting, reading, route } from "../route.ts";
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
    responses: {},
    permission: chatReading,
    stream: TurnEvent,
    by: "leader, or any",
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
