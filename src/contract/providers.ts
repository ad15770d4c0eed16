import { z } from "zod";
import { CreatedBy } from "./authors.ts";
import { SecretName } from "./secrets.ts";

/** The model APIs that guests use, and that providers speak. */
export const wireNames = ["messages", "chat", "responses", "gemini"] as const;
export const WireName = z.enum(wireNames).meta({
  description:
    "`messages`: Anthropic's Messages. `chat`: OpenAI's Chat Completions. `responses`: OpenAI's Responses. `gemini`: Google's Gemini API.",
});
export type WireName = z.infer<typeof WireName>;

export const providerKinds = [
  "anthropic",
  "openai",
  "openai-compatible",
  "google",
  "azure",
  "bedrock",
  "vertex",
  "claude",
  "chatgpt",
] as const;
export const ProviderKind = z.enum(providerKinds);
export type ProviderKind = z.infer<typeof ProviderKind>;

/** The fields of a request that depend on the kind. */
const ownFields = [
  "apiKey",
  "secret",
  "accessKeyId",
  "secretAccessKey",
  "sessionToken",
  "serviceAccount",
  "baseUrl",
  "region",
  "project",
] as const;
type OwnField = (typeof ownFields)[number];

/** The fields that hold credentials. */
export const credentialFields = [
  "apiKey",
  "accessKeyId",
  "secretAccessKey",
  "sessionToken",
  "serviceAccount",
] as const satisfies readonly OwnField[];

interface KindFacts {
  /** The APIs that it speaks, the preferred one first. */
  wires: readonly WireName[];
  /** Sets of fields. A provider must have all of one set. */
  needs: readonly (readonly OwnField[])[];
  allows: readonly OwnField[];
  /** Whether a secret of the workspace can be the API key. */
  takesSecret?: true;
  /** Of a subscription: the only runtime that may use it, its vendor's own. */
  runtime?: string;
}

/** The APIs of each kind of provider, and the fields that it needs. */
export const kindFacts: Record<ProviderKind, KindFacts> = {
  anthropic: { wires: ["messages"], needs: [["apiKey"]], allows: ["baseUrl"], takesSecret: true },
  openai: { wires: ["responses", "chat"], needs: [["apiKey"]], allows: ["baseUrl"], takesSecret: true },
  "openai-compatible": {
    wires: ["chat", "responses"],
    needs: [["baseUrl"]],
    allows: ["apiKey"],
    takesSecret: true,
  },
  google: { wires: ["gemini", "chat"], needs: [["apiKey"]], allows: ["baseUrl"], takesSecret: true },
  azure: { wires: ["responses", "chat"], needs: [["apiKey", "baseUrl"]], allows: [], takesSecret: true },
  bedrock: {
    wires: ["messages"],
    needs: [
      ["region", "accessKeyId", "secretAccessKey"],
      ["region", "apiKey"],
    ],
    allows: ["sessionToken", "baseUrl"],
  },
  vertex: { wires: ["messages", "gemini"], needs: [["region", "project", "serviceAccount"]], allows: ["baseUrl"] },
  claude: { wires: ["messages"], needs: [["apiKey"]], allows: [], runtime: "claude-code" },
  chatgpt: { wires: ["responses"], needs: [[]], allows: [], runtime: "codex" },
};

/** Whether a provider of this name may be of this kind: a kind's name, and `demo`, are reserved. */
function mayBeNamed(name: string, kind: ProviderKind): boolean {
  return name !== "demo" && (name === kind || !(providerKinds as readonly string[]).includes(name));
}

export const ProviderName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,39}$/,
    "A provider's name must have 1 to 40 characters of a-z, 0-9 and -, and begin with a letter.",
  )
  .meta({ description: "The first part of its models' ids.", examples: ["acme"] });

const key = (words: string) =>
  z
    .string()
    .min(1)
    .max(4_096)
    .regex(/^[\x21-\x7e]+$/, "A key must have printable ASCII characters without spaces.")
    .meta({ description: `${words} It is never returned.` });

/** A key file of a Google service account. Other fields of the file are ignored. */
export const ServiceAccount = z
  .object({
    type: z.literal("service_account", "serviceAccount must be the key file of a service account."),
    client_email: z.email("client_email must be the address of a service account.").max(320),
    private_key_id: z.string().max(200).optional(),
    private_key: z.string().min(1).max(16_384),
    token_uri: z.url({ protocol: /^https?$/ }).max(2_048),
  })
  .meta({
    id: "ServiceAccount",
    description: "The key file of a Google service account, as JSON. It is never returned.",
  });
export type ServiceAccount = z.infer<typeof ServiceAccount>;

const baseUrl = z
  .url({ protocol: /^https?$/, error: "baseUrl must look like https://api.example.com/v1." })
  .max(2_048)
  .refine((text) => isPlainAddress(text), "baseUrl must have no user name, password, query or fragment.")
  .transform((text) => text.replace(/\/+$/, ""))
  .meta({ description: "The API's address. Its path is kept: OpenAI's includes `/v1`, Anthropic's does not." });

function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return true; // Reported already.
  const { username, password, search, hash } = new URL(text);
  return username === "" && password === "" && search === "" && hash === "";
}

const settings = {
  baseUrl: baseUrl.nullable(),
  region: z
    .string()
    .regex(/^[a-z]{2,}(-[a-z0-9]+)*$/, "A region must look like eu-central-1 or global.")
    .max(40)
    .nullable()
    .meta({ description: "For `bedrock` and `vertex`." }),
  project: z
    .string()
    .regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, "A project's id must look like my-project-123.")
    .nullable()
    .meta({ description: "For `vertex`." }),
  models: z
    .array(
      z
        .string()
        .min(1)
        .max(200)
        .regex(/^[\x21-\x7e]+$/, "A model's name must have printable ASCII characters without spaces."),
    )
    .min(1)
    .max(200)
    .nullable()
    .meta({
      description:
        "The names of its models. Null: those that it lists; a provider that lists none takes any name (`azure`, `bedrock`, `vertex`).",
    }),
};

const secret = SecretName.meta({
  description:
    "In place of `apiKey`: the name of a secret of the workspace, whose hosts must include the provider's. The provider then has the secret's value of the time of each call.",
});

const credentials = {
  apiKey: key("The API key; for `claude`, the token of `claude setup-token`."),
  accessKeyId: key("For `bedrock`."),
  secretAccessKey: key("For `bedrock`."),
  sessionToken: key("For `bedrock`: of temporary credentials."),
  serviceAccount: ServiceAccount,
};

export const ProviderScope = z.enum(["person", "workspace", "installation"]).meta({
  description:
    "`person`: a subscription for you alone, and your private agents; it goes with your membership. `workspace`: for this workspace, which pays the provider itself. `installation`: for all workspaces, which pay with credits; only the operator can set it.",
});
export type ProviderScope = z.infer<typeof ProviderScope>;

export const CreateProvider = z
  .strictObject({
    name: ProviderName,
    kind: ProviderKind,
    scope: ProviderScope.default("workspace"),
    secret: secret.optional(),
    ...z.object(credentials).partial().shape,
    ...z.object(settings).partial().shape,
  })
  .superRefine(({ name, kind, scope, ...fields }, context) => {
    if (scope === "installation" && kindFacts[kind].runtime !== undefined) {
      const message = "scope: a subscription is not for all workspaces; use `workspace` or `person`.";
      context.addIssue({ code: "custom", message });
    }
    if (scope !== "workspace" && fields.secret !== undefined) {
      const message = "secret: only a provider of the workspace can use the workspace's secrets.";
      context.addIssue({ code: "custom", message });
    }
    if (!mayBeNamed(name, kind)) {
      const message = `name: ${name} is reserved${name === "demo" ? "" : ` for providers of the kind ${name}`}; choose another name.`;
      context.addIssue({ code: "custom", message });
    }
    if (scope === "person" && kindFacts[kind].runtime === undefined) {
      const message = "scope: only subscriptions (claude, chatgpt) can be for one person; use `workspace`.";
      context.addIssue({ code: "custom", message });
    }
    const problem = problemWith(kind, fields);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  })
  .meta({ id: "CreateProvider" });
export type CreateProvider = z.infer<typeof CreateProvider>;

export const ChangeProvider = z
  .strictObject({
    secret: secret.optional(),
    ...z.object(credentials).partial().shape,
    ...z.object(settings).partial().shape,
  })
  .refine((change) => Object.keys(change).length > 0, { message: "At least one field is required." })
  .meta({ id: "ChangeProvider" });
export type ChangeProvider = z.infer<typeof ChangeProvider>;

type Fields = Partial<Record<OwnField, unknown>>;

/** Returns why a provider cannot have these fields; null if it can. */
export function problemWith(kind: ProviderKind, fields: Fields): string | null {
  const { needs, allows, takesSecret } = kindFacts[kind];
  if (fields.secret != null && takesSecret) {
    if (fields.apiKey != null) return "apiKey, secret: give one of both.";
    return problemWith(kind, { ...fields, secret: undefined, apiKey: "of the secret" });
  }
  if (kind === "claude" && String(fields.apiKey ?? "").startsWith("sk-ant-api")) {
    return "apiKey: this is a key of Anthropic's API, for the kind anthropic. The kind claude needs the token of `claude setup-token`.";
  }
  const given = ownFields.filter((name) => fields[name] != null);
  const known = new Set([...needs.flat(), ...allows, ...(takesSecret ? (["secret"] as const) : [])]);
  const excess = given.find((name) => !known.has(name));
  if (excess) return `${excess}: a provider of the kind ${kind} has none. Allowed: ${[...known, "models"].join(", ")}.`;
  if (needs.some((set) => set.every((name) => given.includes(name)))) return null;
  return `A provider of the kind ${kind} needs ${needs.map((set) => set.join(", ")).join("; or ")}.`;
}

const loginStatuses = ["pending", "connected", "failed"] as const;
const LoginStatus = z.enum(loginStatuses);
export type LoginStatus = z.infer<typeof LoginStatus>;

export const ProviderLogin = z
  .object({
    status: LoginStatus.meta({
      description:
        "`pending`: a person is to finish it. `failed`: calls fail until it is connected again (`POST /providers/{name}/login`; for `claude`, another token).",
    }),
    verificationUrl: z.string().nullable().meta({
      description:
        "The vendor's page where a person finishes it. Only in the view of those who may change the provider.",
    }),
    userCode: z.string().nullable().meta({ description: "The code for that page. Do not pass it on." }),
    expiresAt: z.iso.datetime().nullable().meta({ description: "The end of the code." }),
    reason: z.string().nullable().meta({ description: "Why it has failed." }),
  })
  .meta({ id: "ProviderLogin", description: "The login of a subscription." });
export type ProviderLogin = z.infer<typeof ProviderLogin>;

export const Provider = z
  .object({
    name: z.string(),
    kind: ProviderKind,
    scope: ProviderScope,
    source: z.enum(["api", "environment"]).meta({
      description:
        "`environment`: the server's settings (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY`), which only they change.",
    }),
    wires: z.array(WireName).max(wireNames.length).meta({ description: "The APIs that it speaks." }),
    runtimes: z.array(z.string()).meta({ description: "The runtimes that can use its models." }),
    baseUrl: z.string().nullable().meta({
      description: "Null: the kind's usual address. Always null in the view of those who may not change the provider.",
    }),
    region: z.string().nullable(),
    project: z.string().nullable(),
    models: z.array(z.string()).nullable(),
    secret: z.string().nullable().meta({
      description: "The secret of the workspace that is its key. Null: there is none, or it is not shown to you.",
    }),
    problem: z.string().nullable().meta({ description: "Why calls fail before they are sent. Null: they are sent." }),
    credential: z.string().nullable().meta({
      description:
        "The end of the key, the access key's id, the service account's address, or the account of a `chatgpt` login. Null: there is none, or it is not shown to you.",
    }),
    readable: z.boolean().meta({
      description: "False: the credentials were encrypted with another secret key, and must be set again.",
    }),
    login: ProviderLogin.nullable().meta({ description: "Of `claude` and `chatgpt`." }),
    createdBy: CreatedBy,
    createdAt: z.iso.datetime().nullable().meta({ description: "Null: it is from the environment." }),
    updatedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: "Provider" });
export type Provider = z.infer<typeof Provider>;

export const ProviderList = z.object({ data: z.array(Provider), nextCursor: z.null() }).meta({
  id: "ProviderList",
  description:
    "By name. One of yours hides those of the workspace and of the installation of the same name, and one of the workspace the installation's.",
});

export const ProviderParams = z.object({ name: z.string().meta({ description: "The provider's name." }) });

export const ProviderQuery = z.strictObject({ scope: ProviderScope.default("workspace") });

export const TestProvider = z
  .strictObject({
    model: z.string().min(1).max(200).optional().meta({
      description: "The name of the model that is called. Default: the first of its models.",
    }),
  })
  .meta({ id: "TestProvider" });
export type TestProvider = z.infer<typeof TestProvider>;

export const ProviderTest = z
  .object({
    ok: z.boolean(),
    model: z.string(),
    durationMs: z.int().min(0),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: "Why the call failed, as it would fail a turn." }),
  })
  .meta({ id: "ProviderTest", description: "The result of one call for one token." });
export type ProviderTest = z.infer<typeof ProviderTest>;
