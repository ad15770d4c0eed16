import { posix } from "node:path";
import type { RequestPermissionRequest, RequestPermissionResponse, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Diff } from "../contract/approval-fields.ts";
import type { PermissionKind } from "../contract/permissions.ts";
import type { ProposedUse } from "./approvals.ts";

/** The most tool calls of a turn that are remembered. */
const maximumCalls = 1_000;

type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;
type ToolCallUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;
type Seen = Partial<Pick<ToolCall, "kind" | "name" | "title" | "rawInput" | "content" | "status">>;

/** How long a request waits for the input of its tool call. */
const inputMs = 2_000;

/**
 * Converts the permission requests of a runtime that speaks ACP. A request repeats only a part of its tool call, so the
 * events of tool calls are remembered until they end.
 */
export class AcpPermissions {
  readonly #servers: readonly string[];
  readonly #home: string;
  readonly #calls = new Map<string, Seen>();
  /** Requests that wait for the input of their tool call, by its id. */
  readonly #awaited = new Map<string, () => void>();

  /** `servers`: the names of the runtime's MCP servers. */
  constructor(servers: readonly string[], home: string) {
    this.#servers = servers;
    this.#home = home;
  }

  saw(update: ToolCall | ToolCallUpdate): void {
    const { toolCallId: id, status } = update;
    if (status === "completed" || status === "failed") this.#calls.delete(id);
    else if (this.#calls.has(id) || this.#calls.size < maximumCalls) {
      // If a runtime does not give the tool's name, the first title is the name.
      const first = update.sessionUpdate === "tool_call" ? { name: update.title } : {};
      this.#calls.set(id, merged(this.#calls.get(id) ?? first, update));
    }
    if (this.#isInputKnown(id)) this.#awaited.get(id)?.();
  }

  /**
   * Resolves when the input of a request's tool is known: opencode asks about tools of MCP servers before it reports their
   * input. A runtime that never reports it is not waited for.
   */
  async inputKnown({ toolCall: { toolCallId: id, rawInput } }: RequestPermissionRequest): Promise<void> {
    if (this.#isInputKnown(id) || hasFields(rawInput)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, inputMs);
    this.#awaited.set(id, resolve);
    await promise;
    clearTimeout(late);
    this.#awaited.delete(id);
  }

  /** A tool call without fields in its input has begun when its input is known. */
  #isInputKnown(id: string): boolean {
    const call = this.#calls.get(id);
    return call?.status !== "pending" || hasFields(call.rawInput);
  }

  useOf({ toolCall }: RequestPermissionRequest): ProposedUse {
    const call = merged(this.#calls.get(toolCall.toolCallId) ?? {}, toolCall);
    const tool = call.name ?? null;
    // opencode's requests repeat a part of the input.
    const input = joined(this.#calls.get(toolCall.toolCallId)?.rawInput, toolCall.rawInput);
    const mcpTool = this.#mcpTool(tool ?? call.title ?? "");
    const kind = mcpTool === null ? (kinds[call.kind ?? "other"] ?? "other") : "mcp";
    return {
      kind,
      subject: mcpTool ?? this.#subject(kind, tool ?? call.title ?? null, input),
      title: call.title ?? tool ?? "a tool",
      tool,
      toolCallId: toolCall.toolCallId,
      input: input ?? null,
      diff: diffOf(call.content ?? []),
    };
  }

  /** `server/tool`; null if the tool is not of an MCP server. Runtimes join both names differently. */
  #mcpTool(name: string): string | null {
    for (const server of this.#servers) {
      for (const prefix of [`mcp__${server}__`, `${server}_`]) {
        if (name.startsWith(prefix)) return `${server}/${name.slice(prefix.length)}`;
      }
    }
    // Claude Code's name of a tool whose server the agent has added.
    const [prefix, server, ...rest] = name.split("__");
    return prefix === "mcp" && server && rest.length > 0 ? `${server}/${rest.join("__")}` : null;
  }

  #subject(kind: PermissionKind, tool: string | null, input: unknown): string | null {
    switch (kind) {
      case "execute":
        return text(input, "command");
      case "read":
      case "edit": {
        const path = text(input, "file_path", "filePath", "filepath", "notebook_path", "path", "dir_path");
        return path === null ? null : posix.resolve(this.#home, path);
      }
      case "fetch": {
        const url = text(input, "url");
        return url === null ? null : (URL.parse(url)?.hostname ?? null);
      }
      default:
        return tool;
    }
  }
}

/** The response that allows or denies a use once. A permanent one would make the runtime write rules of its own. */
export function permissionResponse(
  { options }: RequestPermissionRequest,
  isAllowed: boolean,
): RequestPermissionResponse {
  const wanted = isAllowed ? (["allow_once", "allow_always"] as const) : (["reject_once"] as const);
  const option = wanted.map((kind) => options.find((each) => each.kind === kind)).find((each) => each !== undefined);
  return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
}

/** Every kind of ACP. */
const kinds: Record<string, PermissionKind> = {
  read: "read",
  search: "read",
  edit: "edit",
  delete: "edit",
  move: "edit",
  execute: "execute",
  fetch: "fetch",
  think: "other",
  switch_mode: "other",
  other: "other",
};

/** Later fields replace earlier ones, except by null. */
function merged(before: Seen, update: { [Field in keyof Seen]?: Seen[Field] | null }): Seen {
  const { kind, name, title, rawInput, content, status } = update;
  const given = Object.entries({ kind, name, title, rawInput, content, status }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return { ...before, ...Object.fromEntries(given) };
}

function hasFields(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length > 0;
}

/** The fields of both; the later ones win. If one is no object, the later one. */
function joined(before: unknown, later: unknown): unknown {
  const areObjects = [before, later].every((each) => typeof each === "object" && each !== null && !Array.isArray(each));
  return areObjects ? { ...(before as object), ...(later as object) } : (later ?? before);
}

/** The first of these fields that is a text. */
function text(input: unknown, ...names: string[]): string | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = input as Record<string, unknown>;
  return (names.map((name) => fields[name]).find((value) => typeof value === "string" && value !== "") ?? null) as
    | string
    | null;
}

function diffOf(content: NonNullable<Seen["content"]>): Diff[] | null {
  const found = content.flatMap((part) =>
    part.type === "diff" ? [{ path: part.path, oldText: part.oldText ?? null, newText: part.newText }] : [],
  );
  return found.length > 0 && found.length <= 100 ? found : null;
}
