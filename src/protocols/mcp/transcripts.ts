import {
  type McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import type { Agents } from "../../agents/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { routes } from "../../contract/routes.ts";
import type { PastTurn } from "../../turns/turn.ts";
import type { Turns } from "../../turns/turns.ts";
import type { CarriedOperation, CarriedOperations, Carrier } from "../carried-operations.ts";

/** How many agents the list of resources contains. The template reads any agent's. */
const listedAgents = 100;
/** How many of the last turns of a conversation a transcript contains. */
const shownTurns = 20;
/** How much of each message and reply, in characters. */
const shownCharacters = 16 * 1024;

const mimeType = "text/markdown";

interface TranscriptParts {
  agents: Pick<Agents, "list">;
  turns: Pick<Turns, "find" | "past">;
  operations: CarriedOperations;
  carrier: Carrier;
}

/** Adds agents' transcripts, and single turns of them, as resources. */
export function addTranscripts(server: McpServer, parts: TranscriptParts): void {
  const { agents, turns, operations, carrier } = parts;
  const { caller } = carrier.request;

  const list = () =>
    operations.perform(routes.listAgents, carrier, async () => {
      const found = await agents.list(caller, listedAgents, null);
      const resources = found.map(({ name }) => ({ uri: `berth://agents/${name}/transcript`, name, mimeType }));
      return { resources };
    });

  const transcript = new ResourceTemplate("berth://agents/{agent}/transcript", { list });
  const ofAgent = {
    title: "Transcript",
    description: `The last ${shownTurns} turns of an agent's conversation.`,
    mimeType,
  };
  server.registerResource("transcript", transcript, ofAgent, ({ href }, { agent }) =>
    reading(href, parts, routes.listTurns, async (operation) => {
      const { id, name } = await operation.findAgent(String(agent));
      const page = await turns.past.list(id, shownTurns, null);
      return `# ${name}\n\n${page.toReversed().map(toText).join("\n\n")}\n`;
    }),
  );

  const turn = new ResourceTemplate("berth://agents/{agent}/turns/{turnId}", { list: undefined });
  const ofTurn = { title: "Turn", description: "A message to an agent and its reply.", mimeType };
  server.registerResource("turn", turn, ofTurn, ({ href }, { agent, turnId }) =>
    reading(href, parts, routes.getTurn, async (operation) => {
      const { id } = await operation.findAgent(String(agent));
      return toText(await turns.past.read(id, (await turns.find(id, String(turnId))).id));
    }),
  );
}

/** A resource's text. Throws not found for missing resources and those of other accounts. */
async function reading(
  uri: string,
  { operations, carrier }: TranscriptParts,
  route: typeof routes.listTurns | typeof routes.getTurn,
  read: (operation: CarriedOperation) => Promise<string>,
): Promise<ReadResourceResult> {
  try {
    return { contents: [{ uri, mimeType, text: await operations.perform(route, carrier, read) }] };
  } catch (error) {
    if (error instanceof BerthError && error.status === 404) throw new ResourceNotFoundError(uri, error.message);
    throw error;
  }
}

function toText({ id, createdAt, status, message, reply, error }: PastTurn): string {
  const end = status === "completed" ? "" : `\n\n(${status}${error ? `: ${error.code}: ${error.message}` : ""})`;
  return `## ${createdAt.toISOString()}, turn ${id}\n\n**Message**\n\n${cut(message)}\n\n**Reply**\n\n${cut(reply)}${end}`;
}

function cut(text: string): string {
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters).toWellFormed()}\n… (cut)`;
}
