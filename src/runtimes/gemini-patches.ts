/** A place in gemini-cli's bundle that is changed while Node loads it. `file`: the beginning of its name. */
interface Patch {
  file: "gemini-" | "chunk-";
  /** A text that stands there once. */
  from: string;
  to: string;
}

/**
 * gemini-cli's ACP server leaves out what Berth needs, and no setting brings it: a tool's name and input in its events, a
 * question before each use of a tool, and the agent's model in all calls. The texts are of version 0.61.0.
 */
const patches: readonly Patch[] = [
  // Each use of a tool is reported with its name and input, and asks, whatever gemini-cli's own policies say.
  {
    file: "gemini-",
    from: "const invocation = tool.build(args);",
    to: `globalThis.berthHistories.save(this);
      await this.sendUpdate({
        sessionUpdate: "tool_call",
        toolCallId: callId,
        status: "in_progress",
        title: tool.displayName,
        name: tool.serverName === undefined ? fc.name : "mcp__" + tool.serverName + "__" + tool.serverToolName,
        rawInput: args,
        kind: toAcpToolKind(tool.kind)
      });
      const invocation = tool.build(args);`,
  },
  {
    file: "gemini-",
    from: "const confirmationDetails = await invocation.shouldConfirmExecute(abortSignal);",
    to: `const confirmationDetails = (await invocation.shouldConfirmExecute(abortSignal, "ask_user")) || {
        type: "info",
        title: displayTitle,
        onConfirm: async () => {}
      };`,
  },
  {
    file: "gemini-",
    from: `case ToolConfirmationOutcome.Cancel:
            return errorResponse(`,
    to: `case ToolConfirmationOutcome.Cancel:
            await this.sendUpdate({ sessionUpdate: "tool_call_update", toolCallId: callId, status: "failed" });
            return errorResponse(`,
  },
  // The result of a tool that shows nothing to people.
  {
    file: "gemini-",
    from: `status: "completed",
        title: displayTitle,
        content: updateContent,`,
    to: `status: "completed",
        title: displayTitle,
        ...(content || typeof toolResult.llmContent !== "string"
          ? { content: updateContent }
          : { rawOutput: toolResult.llmContent }),`,
  },
  // A message is text, also if it begins with a slash or a dollar. Skills may have changed since the last one.
  {
    file: "gemini-",
    from: 'if (commandText && (commandText.startsWith("/") || commandText.startsWith("$"))) {',
    to: `await this.context.config.reloadSkills();
    globalThis.berthHistories.save(this, parts);
    if (false) {`,
  },
  // After a cancelled call without its result, the model's provider would refuse the conversation.
  {
    file: "gemini-",
    from: `return { stopReason: "cancelled" };
      }
      const toolCallRequests = [];`,
    to: `if (turnCount > 1) await this.context.geminiClient.addHistory({ role: "user", parts: currentParts });
        return { stopReason: "cancelled" };
      }
      const toolCallRequests = [];`,
  },
  // Its own record of a session has the calls of tools twice, and in a wrong order.
  {
    file: "gemini-",
    from: `async prompt(params) {
    this.pendingPrompt?.abort();`,
    to: `async prompt(params) {
    try {
      return await this.promptUnsaved(params);
    } finally {
      globalThis.berthHistories.save(this);
    }
  }
  async promptUnsaved(params) {
    this.pendingPrompt?.abort();`,
  },
  {
    file: "gemini-",
    from: "const clientHistory = convertSessionToClientHistory(sessionData.messages);",
    to: `const clientHistory =
      globalThis.berthHistories.load(sessionId) ?? convertSessionToClientHistory(sessionData.messages);`,
  },
  // An earlier session has clients of MCP servers. A session that is loaded was first begun again, in the same file if that
  // was in the same minute, and its messages were sent again, some in the next turn.
  {
    file: "gemini-",
    from: "async newSession({ cwd, mcpServers }, authDetails) {",
    to: `async closeEarlier() {
    for (const earlier of this.sessions.values()) {
      earlier.dispose();
      await earlier.context.config.getMcpClientManager()?.stop();
    }
    this.sessions.clear();
  }
  async newSession({ cwd, mcpServers }, authDetails) {
    globalThis.berthLoads = false;
    await this.closeEarlier();`,
  },
  {
    file: "gemini-",
    from: "async loadSession({ sessionId, cwd, mcpServers }, authDetails) {",
    to: `async loadSession({ sessionId, cwd, mcpServers }, authDetails) {
    globalThis.berthLoads = true;
    await this.closeEarlier();`,
  },
  { file: "gemini-", from: "session.streamHistory(sessionData.messages);", to: "globalThis.berthLoads = false;" },
  {
    file: "chunk-",
    from: "this.sessionId = this.context.promptId;\n        let chatsDir",
    to: "if (globalThis.berthLoads) return;\n        this.sessionId = this.context.promptId;\n        let chatsDir",
  },
  // The helpers for summaries and the like have models of their own, and some names stand for others.
  {
    file: "chunk-",
    from: "  mapModel(req) {",
    to: `  mapModel(req) {
    if (globalThis.berthModel !== undefined) return { ...req, model: globalThis.berthModel };`,
  },
  {
    file: "gemini-",
    from: "  setModel(modelId) {",
    to: `  setModel(modelId) {
    globalThis.berthModel = modelId;`,
  },
  // Its settings are in a folder of root's, whoever owns those above it.
  {
    file: "chunk-",
    from: "const check = isFileAndDirectorySecureSync(filePath, securityCache);",
    to: "const check = { secure: true };",
  },
  // The machine is the sandbox.
  {
    file: "chunk-",
    from: "  validatePathAccess(",
    to: `  validatePathAccess() {
    return null;
  }
  validateWorkspaceAccess(`,
  },
  // The machine has no resolver of names: its proxy decides about hosts.
  {
    file: "chunk-",
    from: "async function isPrivateIp(url3) {",
    to: "async function isPrivateIp(url3) {\n  return false;",
  },
  { file: "chunk-", from: "if (detectCommandSubstitution(strippedCommand)) {", to: "if (false) {" },
  {
    file: "chunk-",
    from: "const userSkills = await loadSkillsFromDir(Storage.getUserSkillsDir());",
    to: `this.addSkillsWithPrecedence(await loadSkillsFromDir(process.env.BERTH_SKILLS));
    const userSkills = await loadSkillsFromDir(Storage.getUserSkillsDir());`,
  },
];

/** A module that Node loads before gemini-cli, to change it. */
export function patchingModule(): string {
  return `import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
const folder = join(process.env.HOME, ".gemini", "berth");
const fileOf = (id) => join(folder, id.replaceAll(/[^\\w-]/g, "") + ".json");
// A session's contents, and those of a message that is about to be sent.
globalThis.berthHistories = {
  save({ id, context }, parts) {
    const isContext = ({ content }) => content.parts?.[0]?.text?.startsWith("<session_context>");
    const turns = context.geminiClient.getChat().agentHistory.get().filter((turn) => !isContext(turn));
    const next = parts ? [{ id: randomUUID(), content: { role: "user", parts } }] : [];
    mkdirSync(folder, { recursive: true });
    writeFileSync(fileOf(id) + ".new", JSON.stringify([...turns, ...next]));
    renameSync(fileOf(id) + ".new", fileOf(id));
  },
  load(id) {
    try {
      const turns = JSON.parse(readFileSync(fileOf(id), "utf8"));
      // A call without a result would be refused by the model's provider.
      while (turns.at(-1)?.content.parts?.some((part) => part.functionCall)) turns.pop();
      return turns;
    } catch {
      return null;
    }
  },
};
const patches = ${JSON.stringify(patches, null, 1)};
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const name = url.slice(url.lastIndexOf("/") + 1);
    const mine = patches.filter(({ file }) => url.includes("/@google/gemini-cli/bundle/") && name.startsWith(file));
    if (mine.length === 0) return loaded;
    let source = String(loaded.source);
    for (const { file, from, to } of mine) {
      if (file === "gemini-" && !source.includes(from)) throw new Error("gemini-cli has changed: no " + from);
      source = source.replace(from, () => to);
    }
    return { ...loaded, source };
  },
});
`;
}
