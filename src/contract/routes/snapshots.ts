import { z } from "zod";
import { Agent, AgentParams, WaitQuery } from "../agents.ts";
import { reading, route, using } from "../route.ts";
import { CreateSnapshot, Rollback, Snapshot, SnapshotList, SnapshotParams } from "../snapshots.ts";

export const snapshotRoutes = {
  createSnapshot: route({
    method: "POST",
    path: "/agents/{name}/snapshots",
    summary: "Create a snapshot of an agent",
    description:
      "Its files, its memory with the running programs, and its conversation. The machine is paused for some tenths of a second; a turn continues.",
    params: AgentParams,
    body: CreateSnapshot,
    responses: { 201: Snapshot },
    permission: using,
  }),
  listSnapshots: route({
    method: "GET",
    path: "/agents/{name}/snapshots",
    summary: "List an agent's snapshots",
    params: AgentParams,
    responses: { 200: SnapshotList },
    permission: reading,
    by: "any",
  }),
  removeSnapshot: route({
    method: "DELETE",
    path: "/agents/{name}/snapshots/{snapshot}",
    summary: "Remove a snapshot",
    params: SnapshotParams,
    responses: { 204: z.null() },
    permission: using,
  }),
  rollBack: route({
    method: "POST",
    path: "/agents/{name}/rollback",
    summary: "Roll an agent back to a snapshot",
    description:
      "Restores files and conversations, and running programs if the snapshot has its memory. Later turns stay in the history, as `undone`, and credits are not refunded. First creates a snapshot of the current state. Refused during a turn.",
    params: AgentParams,
    query: WaitQuery,
    body: Rollback,
    responses: { 200: Agent },
    permission: using,
  }),
};
