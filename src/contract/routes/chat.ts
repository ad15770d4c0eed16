import { z } from "zod";
import { Agent, AgentParams, WaitQuery } from "../agents.ts";
import { AgentChanges, ChangesQuery, RevertedFiles, RevertFiles, TurnChangesWithDiffs } from "../changes.ts";
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
  revertFiles: route({
    method: "POST",
    path: "/agents/{name}/turns/{turnId}/changes/revert",
    summary: "Take back what a turn changed in files",
    description:
      "Applies the reversed diffs to the files as they are now, or with `to: after` the diffs. Files that the turn created are deleted, and the other way round. All files are checked before the first is written: 409 `file_changed` names those that no longer fit, 409 `diff_unknown` those without a diff. Refused while a turn runs.",
    params: TurnParams,
    body: RevertFiles,
    responses: { 200: RevertedFiles },
    permission: using,
  }),
  getChanges: route({
    method: "GET",
    path: "/agents/{name}/changes",
    summary: "Read the files that changed since a snapshot or a turn",
    description:
      "The changes of all later turns as one list, with a diff for each file. `since` is the name or id of a snapshot, or the id of a turn, which is included. Changes between turns are not known. 409 `rolled_back`: the agent has gone back to before that point. 409 `too_many_turns`: more than 100 turns or 16 MiB of diffs.",
    params: AgentParams,
    query: ChangesQuery,
    responses: { 200: AgentChanges },
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
