import { z } from "zod";
import { AgentParams } from "../agents.ts";
import {
  CommandEvent,
  CommandEventsQuery,
  CommandList,
  CommandParams,
  CommandRecord,
  CommandResult,
  InputQuery,
  RunCommand,
  SignalCommand,
} from "../commands.ts";
import { route, using } from "../route.ts";

/** Commands that an agent's owner runs in its machine. */
export const commandRoutes = {
  runCommand: route({
    method: "POST",
    path: "/agents/{name}/commands",
    summary: "Run a command in an agent's machine",
    description:
      "Responds when the command has ended: with its result or, with `accept: text/event-stream`, with its events as they arrive. The header `x-command-id` has its id. A detached command returns immediately. The command continues if the client disconnects.",
    params: AgentParams,
    body: RunCommand,
    responses: { 200: CommandResult, 201: CommandRecord },
    permission: using,
    stream: CommandEvent,
  }),
  listCommands: route({
    method: "GET",
    path: "/agents/{name}/commands",
    summary: "List the commands of an agent's machine",
    params: AgentParams,
    responses: { 200: CommandList },
    permission: using,
  }),
  getCommand: route({
    method: "GET",
    path: "/agents/{name}/commands/{commandId}",
    summary: "Read a command",
    params: CommandParams,
    responses: { 200: CommandRecord },
    permission: using,
  }),
  getCommandEvents: route({
    method: "GET",
    path: "/agents/{name}/commands/{commandId}/events",
    summary: "Read a command's output, from the start or from a cursor",
    description:
      "Live or finished, up to `command.exited`. 16 MiB of output are kept. A reader does not keep the machine awake: the stream continues when it wakes.",
    params: CommandParams,
    query: CommandEventsQuery,
    responses: { 200: z.null(), 204: z.null() },
    permission: using,
    stream: CommandEvent,
  }),
  writeCommandInput: route({
    method: "POST",
    path: "/agents/{name}/commands/{commandId}/stdin",
    summary: "Write to a command's input",
    description: "The body is bytes, up to 512 KiB.",
    params: CommandParams,
    query: InputQuery,
    takesBytes: "whole",
    responses: { 204: z.null() },
    permission: using,
  }),
  signalCommand: route({
    method: "POST",
    path: "/agents/{name}/commands/{commandId}/signal",
    summary: "Send a signal to a command and its child processes",
    params: CommandParams,
    body: SignalCommand,
    responses: { 204: z.null() },
    permission: using,
  }),
};
