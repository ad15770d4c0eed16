import type { AppContext } from "../context.ts";
import { dashboardClient, type ProtectedResource, signInPrefix, toolClient } from "../contract/sign-in.ts";
import type { Database } from "../core/database/database.ts";
import { clientOf } from "../core/http/rate-limits.ts";
import type { Sealer } from "../core/sealing.ts";
import type { Foundation } from "../foundation.ts";
import type { Stores } from "../stores.ts";
import { SignInAttempts } from "./attempt-store.ts";
import { fetchInProcess } from "./in-process.ts";
import { LocalSignIn } from "./local-sign-in.ts";
import type { SignInAction } from "./page-requests.ts";
import { createCookieKey, createTokenKey, localAudience } from "./provider.ts";
import { providerKeys, replaceProviderKeys } from "./provider-key-store.ts";
import { ProviderRecords } from "./provider-record-store.ts";
import { WebSignIn } from "./web-sign-in.ts";

/** The built-in identity provider. */
export function openLocalSignIn({ config, database, stores, sealer, log, fetchDocument }: Foundation): LocalSignIn {
  const { users } = stores;
  const warn = (message: string, error: unknown) => log(message, { error });
  return new LocalSignIn({
    records: new ProviderRecords(database),
    users,
    attempts: new SignInAttempts(database, config.signInAttempts, clientOf),
    record: recorder(stores, warn),
    keys: keysIn(database, sealer),
    fetchDocument: config.clientDocuments ? fetchDocument : null,
    log: warn,
  });
}

/** The provider's keys in the database, where all servers find them. */
function keysIn(database: Database, sealer: Sealer) {
  const newCookieKey = () => ({ key: createCookieKey() });
  return {
    read: async () => {
      const tokenKeys = await providerKeys(database, sealer, "tokens", createTokenKey);
      const cookieKeys = await providerKeys(database, sealer, "cookies", async () => newCookieKey());
      return { tokenKeys, cookieKeys: cookieKeys.map(({ key }) => key) };
    },
    replace: async (retiresAt: Date) => {
      const made = { tokens: await createTokenKey(), cookies: newCookieKey() };
      await replaceProviderKeys(database, sealer, made, retiresAt);
    },
  };
}

/** Metadata about the issuer of tokens for the API, or for its part at `path` (RFC 9728). */
export function protectedResource({ config: { oidc }, address }: AppContext, path = ""): ProtectedResource {
  return {
    resource: address.public + path,
    resource_name: "Berth",
    bearer_methods_supported: ["header"],
    authorization_servers: [oidc?.issuer ?? address.public + signInPrefix],
    scopes_supported: ["openid", "offline_access"],
    berth_audience: oidc?.audience ?? localAudience,
    berth_tool_client_id: oidc?.clientId ?? toolClient,
    berth_dashboard_client_id: oidc?.clientId ?? dashboardClient,
  };
}

/** The identity provider as the dashboard signs in there. */
export function webProvider({ config: { oidc }, signIn, address }: AppContext): WebSignIn {
  const redirectUri = () => `${address.public}/`;
  if (oidc) {
    const { issuer, clientId, audience } = oidc;
    return new WebSignIn({ issuer: () => issuer, clientId, audience, redirectUri });
  }
  const issuer = () => address.public + signInPrefix;
  const fetch = fetchInProcess(issuer, (request, response) => signIn!.handle(request, response, "127.0.0.1"));
  return new WebSignIn({ issuer, clientId: dashboardClient, audience: null, redirectUri, fetch });
}

/** Writes users' actions to their accounts' audit log. Never rejects. */
function recorder(
  { audit, people, users }: Pick<Stores, "audit" | "people" | "users">,
  log: (message: string, error: unknown) => void,
) {
  return async ({ userId, ...action }: SignInAction) => {
    try {
      const { accountId } = (await users.byId(userId))!;
      const personId = await people.idOf(accountId);
      const code = action.status === 401 ? "credentials_invalid" : null;
      const nothing = { credential: null, keyId: null, agent: null, agentId: null, resource: null };
      await audit.write({ ...nothing, ...action, accountId, personId, code });
    } catch (error) {
      log("an audit entry could not be written", error);
    }
  };
}
