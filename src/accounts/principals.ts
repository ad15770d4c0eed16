import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { AccountRecord } from "../contract/sign-in.ts";
import { userNameKey } from "../contract/users.ts";
import { isWithin, type Role } from "../contract/workspaces.ts";
import type { Caller } from "../core/http/caller.ts";
import { IssuerTokens } from "../sign-in/tokens.ts";
import { parseKey } from "./key-format.ts";

/** Authenticates requests by API key or by a token of the identity provider. */
export class Principals {
  readonly #context: AppContext;
  /** Null: the built-in provider issues the tokens. */
  readonly #external: IssuerTokens | null;

  constructor(context: AppContext) {
    this.#context = context;
    this.#external = context.config.oidc && new IssuerTokens(context.config.oidc);
  }

  /**
   * The caller with a key or token for this part of the service, in the workspace of this name or id; null if the
   * credential is not, or no longer, valid. Without a workspace: the key's own, or the person's personal one. Throws
   * `workspace_not_found` if the caller is not a member.
   */
  async find(
    credential: string,
    audience: "api" | "mcp" = "api",
    workspace: string | null = null,
  ): Promise<Caller | null> {
    const hash = parseKey(credential);
    if (hash === undefined) return this.#findByToken(credential, audience, workspace);
    const caller = hash && (await this.#context.stores.keys.findCaller(hash));
    if (caller && workspace !== null) await this.#requireOwn(caller, workspace);
    return caller;
  }

  /**
   * Whether the caller's open connections may stay open: its key or its membership is valid with the role that it had,
   * and its token has not been revoked by a new password, by its expiry, or by its program's sign-out.
   */
  async isValid(caller: Pick<Caller, "accountId" | "personId" | "role" | "keyId" | "token">): Promise<boolean> {
    const { stores, signIn } = this.#context;
    const { accountId, personId, keyId, token } = caller;
    if (keyId === null && token === null) return stores.accounts.isEnabled(accountId);
    const role = keyId !== null ? await stores.keys.roleOf(keyId) : await this.#roleOf(accountId, personId, token!);
    if (role === null || !isWithin(caller.role, role)) return false;
    return token === null || signIn === null || signIn.isGranted(token.subject, token.clientId);
  }

  async #roleOf(accountId: string, personId: string | null, token: NonNullable<Caller["token"]>): Promise<Role | null> {
    const { issuedAt, expiresAt } = token;
    if (personId === null || (expiresAt !== null && Date.parse(expiresAt) <= Date.now())) return null;
    return this.#context.stores.people.roleIn(personId, accountId, issuedAt === null ? null : new Date(issuedAt));
  }

  /** A key belongs to one workspace. */
  async #requireOwn({ accountId }: Caller, workspace: string): Promise<void> {
    if (workspace === accountId) return;
    const name = await this.#context.stores.accounts.nameOf(accountId);
    if (userNameKey(name) === userNameKey(workspace)) return;
    throw new BerthError("workspace_not_found", "This key is for another workspace; a key belongs to one.");
  }

  /** The account as its owner sees it. */
  async account({ accountId: id, credential, operator }: Caller): Promise<AccountRecord> {
    const name = await this.#context.stores.accounts.nameOf(id);
    return { id, name, operator, credential: credential === "token" ? "token" : "full" };
  }

  async #findByToken(token: string, audience: "api" | "mcp", workspace: string | null): Promise<Caller | null> {
    const identity = await (this.#external?.verify(token) ?? this.#context.signIn!.verify(token, audience));
    if (!identity) return null;
    const { subject, clientId, issuedAt, expiresAt } = identity;
    const found = await this.#context.stores.people.find(identity, issuedAt, workspace);
    if (found === "refused") return null;
    if (found === null)
      throw new BerthError("workspace_not_found", "You are not a member of a workspace of this name.");
    return {
      ...found,
      credential: "token",
      keyId: null,
      agentIds: null,
      creditLimitMicro: null,
      expiresAt: null,
      token: {
        subject,
        clientId,
        issuedAt: issuedAt?.toISOString() ?? null,
        expiresAt: expiresAt?.toISOString() ?? null,
      },
    };
  }
}
