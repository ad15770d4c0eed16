import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { hexOf } from "../contract/ids.ts";
import { accessTo } from "../core/http/access.ts";
import type { Caller } from "../core/http/caller.ts";

/** For how long a browser stays admitted to a port's pages, in milliseconds. */
export const sessionMs = 12 * 60 * 60 * 1000;

/** How many hexadecimal digits of an account's id are in the host names of its previews: 48 random bits. */
const accountDigits = 12;

/** The target of a host name. */
export interface PreviewTarget {
  agent: AgentState;
  port: number;
}

/** The viewer of a port's pages, who pays for them: a caller, or anyone with a share. */
export interface Visitor extends Pick<Caller, "accountId" | "personId" | "role" | "keyId" | "token"> {
  /** The share's id; null for a caller. */
  share: string | null;
}

/** The contents of a browser's cookie. */
interface Session extends Visitor {
  agentId: string;
  port: number;
  /** In milliseconds since 1970. */
  until: number;
}

/** Cookies are bound to this text: no other text that the service seals has this form. */
const sealContext = "preview session";

/** The purpose of a ticket for a port's pages. */
export function previewPurpose(port: number): string {
  return `preview ${port}`;
}

/** The first label of a port's host name: `3000--ada--0123456789ab`. At most 51 characters. */
export function previewLabel({ name, accountId }: Pick<AgentState, "name" | "accountId">, port: number): string {
  return `${port}--${name}--${hexOf(accountId).slice(0, accountDigits)}`;
}

/** The content of a host name's first label. */
interface PreviewLabel {
  port: number;
  /** The agent's name. */
  name: string;
  /** The first hexadecimal digits of the account's id. */
  digits: string;
}

/** Null for a label that no port of an agent has. */
export function parseLabel(label: string): PreviewLabel | null {
  const [, port, name, digits] = /^(\d{1,5})--(.+)--([0-9a-f]{12})$/.exec(label) ?? [];
  if (port === undefined || name === undefined || digits === undefined) return null;
  if (String(Number(port)) !== port || Number(port) < 1 || Number(port) > 65_535) return null;
  return { port: Number(port), name, digits };
}

/** Decides who may see the pages that agents serve. */
export class Previews {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The port that a host name's first label stands for; null if there is no such agent. */
  async find({ port, name, digits }: PreviewLabel): Promise<PreviewTarget | null> {
    const agent = await this.#context.stores.agents.byAccountDigits(digits, name);
    return agent && agent.desired !== "deleted" ? { agent, port } : null;
  }

  /** Uses up a ticket. Returns a session for a cookie; null if the ticket is not good for these pages. */
  async enter(ticket: string, { agent, port }: PreviewTarget): Promise<string | null> {
    const admission = await this.#context.tickets.take(ticket);
    if (admission?.purpose !== previewPurpose(port) || admission.agentId !== agent.id) return null;
    if (accessTo(agent, admission.caller) !== "all") return null;
    const { accountId, personId, role, keyId, token } = admission.caller;
    const visitor = { accountId, personId, role, keyId, token, share: null };
    return this.#seal({ ...visitor, agentId: agent.id, port, until: Date.now() + sessionMs });
  }

  /** A session for a cookie, by the secret of a link; null if the share has ended. */
  async enterByShare(secret: string, { agent, port }: PreviewTarget): Promise<string | null> {
    const share = await this.#context.shares.bySecret(agent, port, secret);
    if (share === null) return null;
    const { accountId } = agent;
    const visitor = { accountId, personId: null, role: "viewer" as const, keyId: null, token: null, share };
    return this.#seal({ ...visitor, agentId: agent.id, port, until: Date.now() + sessionMs });
  }

  /**
   * The visitor with one of these sessions. Null if none is good for these pages; `ended` if one was, by a share that
   * has ended.
   */
  async visitor(sessions: readonly string[], { agent, port }: PreviewTarget): Promise<Visitor | "ended" | null> {
    for (const sealed of sessions) {
      const session = this.#unseal(sealed);
      if (!session || session.agentId !== agent.id || session.port !== port || session.until <= Date.now()) continue;
      // Sessions of an earlier version do not have all of these.
      const { accountId, personId = null, role = "owner", keyId, token = null, share } = session;
      const visitor = { accountId, personId, role, keyId, token, share };
      if (await this.isValid(visitor, agent.id)) return visitor;
      if (share !== null) return "ended";
    }
    return null;
  }

  /** Whether the visitor may still see the agent's pages. */
  async isValid(visitor: Visitor, agentId: string): Promise<boolean> {
    const { shares, principals, stores } = this.#context;
    if (visitor.share !== null) return (await shares.isOpen(visitor.share)) && principals.isValid(visitor);
    const [agent] = await stores.agents.privateOf([agentId]);
    if (agent && accessTo(agent, visitor) !== "all") return false;
    return principals.isValid(visitor);
  }

  #seal(session: Session): string {
    return this.#context.sealer.seal(JSON.stringify(session), sealContext).toString("base64url");
  }

  #unseal(sealed: string): Session | null {
    const text = this.#context.sealer.open(Buffer.from(sealed, "base64url"), sealContext);
    return text === null ? null : (JSON.parse(text) as Session);
  }
}
