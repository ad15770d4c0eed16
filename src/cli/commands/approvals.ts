import { type Approval, authorText } from "@berth/client";
import { approvalText } from "../approval-text.ts";
import type { ToolCommand } from "../command.ts";
import { agentOf, connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { limitOption } from "../options.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface TurnOption {
  turn?: string;
}

const about = { approval: "the approval's id or its beginning; without it, the only one that waits" };
const turnOption = ["--turn <id>", "the turn's id; with the approval's whole id, nothing is looked up"] as const;

export function register(program: ToolCommand): void {
  const approvals = program.add("approvals", "allow or deny what agents ask for");
  approvals
    .add("list [agent]", "list the approvals that wait for an answer, the oldest first")
    .addOption(limitOption(50))
    .lists({
      list: (agent: string | undefined, { limit }: { limit: number }) =>
        connect().approvals.list({ agent }).take(limit),
      empty: () => "No approval waits.",
      columns: {
        ID: ({ id }: Approval) => id,
        AGENT: "agent",
        ASKED: ({ requestedAt }) => localTime(requestedAt),
        EXPIRES: ({ expiresAt }) => localTime(expiresAt),
        TO: (approval) => approvalText(approval),
      },
    });
  approvals
    .add("history <agent> <turn>", "list all approvals of a turn with their answers", { turn: "the turn's id" })
    .addOption(limitOption(50))
    .lists({
      list: (agent: string, turn: string, { limit }: { limit: number }) =>
        agentOf(agent).approvals.list(turn).take(limit),
      empty: () => "The turn has asked for nothing.",
      columns: {
        ASKED: ({ requestedAt }: Approval) => localTime(requestedAt),
        ANSWER: ({ decision, status }) => decision ?? status,
        BY: ({ decidedBy }) => (decidedBy ? printable(authorText(decidedBy)) : ""),
        TO: (approval) => approvalText(approval),
      },
    });
  approvals
    .add("allow <agent> [approval]", "let an agent use the tool that it asks for", about)
    .option("--always", "also allow exactly this in future, by a rule of the agent's permissions")
    .option(...turnOption)
    .prints(
      async (agent: string, id: string | undefined, { always, turn }: TurnOption & { always?: true }) => {
        const [turnId, approvalId] = await find(agent, id, turn);
        return agentOf(agent).approvals.answer(turnId, approvalId, { decision: always ? "allow-always" : "allow" });
      },
      ({ agent, ...approval }) => note(`${printable(agent)} may ${approvalText(approval)}`),
    );
  approvals
    .add("deny <agent> [approval]", "deny the tool that an agent asks for; its turn continues", about)
    .option("-m, --message <text>", "the reason, for the record")
    .option(...turnOption)
    .prints(
      async (agent: string, id: string | undefined, { message, turn }: TurnOption & { message?: string }) => {
        const [turnId, approvalId] = await find(agent, id, turn);
        return agentOf(agent).approvals.answer(turnId, approvalId, { decision: "deny", ...(message && { message }) });
      },
      ({ agent, ...approval }) => note(`${printable(agent)} may not ${approvalText(approval)}`),
    );
}

/** The turn and the id of an approval that waits. Throws `CliError` unless one fits. */
async function find(agent: string, id: string | undefined, turn: string | undefined): Promise<[string, string]> {
  if (turn !== undefined && id !== undefined) return [turn, id];
  const { data } = await connect().approvals.list({ agent }).take(100);
  const fitting = data.filter((each) => turn === undefined || each.turnId === turn);
  const found = fitting.filter((each) => id === undefined || each.id.startsWith(id));
  if (found.length === 1) return [found[0]!.turnId, found[0]!.id];
  if (fitting.length === 0) throw new CliError(`No approval of ${printable(agent)} waits.`);
  const list = fitting.map((each) => `  ${each.id}  ${approvalText(each)}`).join("\n");
  throw new CliError(`${found.length} approvals of ${printable(agent)} fit. Name one of:\n${list}`, 2);
}
