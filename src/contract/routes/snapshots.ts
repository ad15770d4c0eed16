import { z } from "zod";
import { Agent, AgentParams, WaitQuery } from "../agents.ts";
import { account, route } from "../route.ts";
import { CreateSnapshot, Rollback, Snapshot, SnapshotList, SnapshotParams } from "../snapshots.ts";

/** Moments of agents that are kept. */
export const snapshotRoutes = {
  createSnapshot: route({
    method: "POST",
    path: "/agents/{name}/snapshots",
    summary: "Keep an agent as it is now",
    description:
      "Its files, its memory with the programs that run, and its conversation. It stands still for some tenths of a second; a turn continues.",
    params: AgentParams,
    body: CreateSnapshot,
    responses: { 201: Snapshot },
    permission: account,
  }),
  listSnapshots: route({
    method: "GET",
    path: "/agents/{name}/snapshots",
    summary: "List an agent's snapshots",
    params: AgentParams,
    responses: { 200: SnapshotList },
    permission: account,
    by: "any",
  }),
  removeSnapshot: route({
    method: "DELETE",
    path: "/agents/{name}/snapshots/{snapshot}",
    summary: "Remove a snapshot",
    params: SnapshotParams,
    responses: { 204: z.null() },
    permission: account,
  }),
  rollBack: route({
    method: "POST",
    path: "/agents/{name}/rollback",
    summary: "Make an agent as it was at a snapshot",
    description:
      "Files, running programs and conversation. Turns since then stay in the history, as `undone`, and credits do not come back. What the agent is now is kept as a snapshot first. Refused while it answers a message.",
    params: AgentParams,
    query: WaitQuery,
    body: Rollback,
    responses: { 200: Agent },
    permission: account,
  }),
};
