import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import type { z } from "zod";
import { BerthError } from "../../contract/errors.ts";
import type { Route } from "../../contract/route.ts";
import type { Caller } from "../../core/http/caller.ts";
import { errorBody } from "../../core/http/errors.ts";
import type { CarriedOperation, CarriedOperations, Carrier } from "../carried-operations.ts";
import { argumentsOf } from "./arguments.ts";
import { Elicitation } from "./elicitation.ts";
import type { McpClient } from "./mcp-client.ts";
import { Progress } from "./progress.ts";

export interface ToolCall {
  operation: CarriedOperation;
  carrier: Carrier;
  caller: Caller;
  /** Reports progress to the client; does nothing for a client that has not requested it. */
  progress: Progress;
  /** Aborts when the client disconnects or cancels. */
  gone: AbortSignal;
  client: McpClient;
  /** Null: the client shows its user no forms. */
  elicitation: Elicitation | null;
}

/** A tool's result: for programs, for the model if that differs from the JSON, and whether it is a failure. */
interface ToolAnswer<Output> {
  result: Output;
  text?: string;
  failed?: boolean;
  /** The fields that make the result a task. */
  task?: Record<string, unknown>;
}

interface ToolDefinition<Input extends z.ZodType, Output extends z.ZodType> {
  name: string;
  title: string;
  /** For the model that chooses among tools. */
  description: string;
  /** The API operation that the tool performs. */
  route: Route;
  input: Input;
  output: Output;
  annotations: ToolAnnotations;
  /** Whether a call may be a task. */
  takesTasks?: boolean;
  run: (input: z.output<Input>, call: ToolCall) => Promise<ToolAnswer<z.output<Output>> | InputRequiredResult>;
}

/** A tool, as an MCP server takes it. */
export interface Tool {
  name: string;
  route: Route;
  register(server: McpServer, operations: CarriedOperations, carrier: Carrier, client: McpClient): void;
}

/** A tool that performs an operation of the API. */
export function tool<Input extends z.ZodType, Output extends z.ZodType>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { name, route, title, description, input, output, annotations, takesTasks = false, run } = definition;
  const outputSchema: z.ZodType = output;
  const config = { title, description, inputSchema: argumentsOf<z.ZodType>(input), outputSchema, annotations };
  return {
    name,
    route,
    register(server, operations, carrier, client) {
      const handler = async (given: unknown, { mcpReq }: ServerContext) => {
        using progress = new Progress(mcpReq);
        const { caller } = carrier.request;
        const elicitation = client.elicits ? new Elicitation(server, mcpReq, client) : null;
        const call = { carrier, caller, progress, gone: mcpReq.signal, client, elicitation };
        return await operations
          .perform(route, carrier, async (operation) => {
            const answer = await run(given as z.output<Input>, { ...call, operation });
            return "result" in answer ? toResult(answer as ToolAnswer<unknown>) : answer;
          })
          .catch(toFailure);
      };
      const registered = server.registerTool(name, config, handler);
      if (takesTasks) registered.execution = { taskSupport: "optional" };
    },
  };
}

/** Converts an answer to a result for programs and for the model. */
export function toResult({ result, text, failed, task }: ToolAnswer<unknown>): CallToolResult {
  return {
    ...task,
    content: [{ type: "text", text: text ?? JSON.stringify(result) }],
    structuredContent: result as Record<string, unknown>,
    ...(failed ? { isError: true } : {}),
  };
}

/** Converts an error to a result that the model can act on: the problem, and what is allowed. */
export function toFailure(thrown: unknown): CallToolResult {
  if (!(thrown instanceof BerthError)) throw thrown;
  const { code, message, details } = errorBody(thrown);
  const more = details === undefined ? "" : `\n${JSON.stringify(details)}`;
  return { isError: true, content: [{ type: "text", text: `${code}: ${message}${more}` }] };
}
