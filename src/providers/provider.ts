import type { Author } from "../contract/authors.ts";
import {
  type ChangeProvider,
  credentialFields,
  kindFacts,
  type LoginStatus,
  type Provider,
  type ProviderKind,
  type ProviderLogin,
  type ServiceAccount,
} from "../contract/providers.ts";

/** Proves to a provider on whose behalf it is called. */
export type Credential =
  | { apiKey: string }
  | { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  | { serviceAccount: ServiceAccount };

/** A subscription's login. */
export interface LoginState {
  status: LoginStatus;
  /** Where a person finishes it, and the code for that page. */
  verificationUrl: string | null;
  userCode: string | null;
  expiresAt: Date | null;
  /** Why it has failed. */
  reason: string | null;
  account: string | null;
  /** False: its tokens were encrypted with another secret key. */
  readable: boolean;
}

export interface ProviderSettings {
  kind: ProviderKind;
  baseUrl: string | null;
  region: string | null;
  project: string | null;
  models: string[] | null;
  /** The secret of the workspace that is its key. */
  secret: string | null;
}

/** The workspace of a provider, null for the installation's, and the person that it is for, null for all. */
export type ProviderOwner = Pick<ProviderState, "accountId" | "ownerId">;

/** The workspace and the person whose providers are reachable. Null: of no person. */
export interface ProviderViewer {
  accountId: string;
  personId: string | null;
}

/** An account at a provider of models. */
export interface ProviderState extends ProviderSettings {
  /** Null: from the environment. */
  id: string | null;
  /** Null: for all workspaces. */
  accountId: string | null;
  /** The person that it is for; null: for all of the workspace. */
  ownerId: string | null;
  name: string;
  /** `none`: it needs none. `unreadable`: it was encrypted with another secret key. */
  credential: Credential | "none" | "unreadable";
  hint: string | null;
  /** Why its secret cannot be used. */
  problem: string | null;
  /** Differs after each change of what calls are made with. */
  version: string;
  /** Null: it is no subscription, or one whose credential has not been refused. */
  login: LoginState | null;
  createdBy: Author | null;
  createdAt: Date | null;
  updatedAt: Date | null;
}

/** Shorter keys would be revealed in too large a part. */
const leastShownLength = 12;
const shownCharacters = 4;

/** The part of a credential that people see. */
export function hintOf(credential: Credential): string | null {
  if ("serviceAccount" in credential) return credential.serviceAccount.client_email;
  if ("accessKeyId" in credential) return credential.accessKeyId;
  const { apiKey } = credential;
  return apiKey.length < leastShownLength ? null : `…${apiKey.slice(-shownCharacters)}`;
}

/** The credential in a request; null if there is none. */
export function credentialIn(asked: ChangeProvider): Credential | null {
  const given = Object.fromEntries(
    credentialFields.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name]]])),
  );
  return Object.keys(given).length === 0 ? null : (given as unknown as Credential);
}

/** The provider as its users see it. `full`: to those who may change it. */
export function toProviderView(state: ProviderState, runtimes: string[], full: boolean): Provider {
  const { id, accountId, ownerId, name, kind, region, project, models, problem, createdAt, updatedAt } = state;
  return {
    ...{ name, kind, region, project, models, runtimes },
    scope: accountId === null ? "installation" : ownerId === null ? "workspace" : "person",
    source: id === null ? "environment" : "api",
    wires: [...kindFacts[kind].wires],
    baseUrl: full ? state.baseUrl : null,
    secret: full ? state.secret : null,
    problem: full || problem === null ? problem : "Its secret cannot be used.",
    credential: full ? (state.login?.account ?? state.hint) : null,
    readable: problem !== null || (state.credential !== "unreadable" && (state.login?.readable ?? true)),
    login: kindFacts[kind].runtime === undefined ? null : toLoginView(state.login, full),
    createdBy: full ? state.createdBy : null,
    createdAt: createdAt?.toISOString() ?? null,
    updatedAt: updatedAt?.toISOString() ?? null,
  };
}

/** The code is for those who may connect an account. A credential that has not been refused is a login that is connected. */
function toLoginView(login: LoginState | null, full: boolean): ProviderLogin {
  return {
    status: login?.status ?? "connected",
    verificationUrl: full ? (login?.verificationUrl ?? null) : null,
    userCode: full ? (login?.userCode ?? null) : null,
    expiresAt: login?.expiresAt?.toISOString() ?? null,
    reason: login?.reason ?? null,
  };
}
