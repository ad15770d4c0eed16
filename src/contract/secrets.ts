import { z } from "zod";
import { CreatedBy } from "./authors.ts";
import { type EgressRule, parseRule, ruleText } from "./egress-rules.ts";

const maximumHosts = 50;
/** HTTP servers accept 8 KiB of headers in total, so longer values would be useless. */
const maximumValue = 4_096;

/** Variables that programs act on: a placeholder as their value would break the machine or redirect its programs. */
const reserved =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|TERM|PWD|IFS|ENV|BASH_.*|LD_.*|LC_.*|NODE_.*|SSL_.*|(HTTPS?|NO|ALL)_PROXY|NPM_CONFIG_.*|GIT_.*|PYTHON.*|PERL.*|ANTHROPIC_(BASE_URL|AUTH_TOKEN)|OPENAI_BASE_URL|GOOGLE_GEMINI_BASE_URL)$/;

export const SecretName = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    "A secret's name must have 1 to 64 characters of A-Z, 0-9 and _, and begin with a letter.",
  )
  .refine((name) => !reserved.test(name), "Programs in the machine use this variable themselves; choose another name.")
  .meta({ description: "The name of the variable that holds the placeholder in the machine." });

const plainScheme = "http://";

/** A host that may receive a secret's value: over TLS or, for a host written with `http://`, in clear text. */
export interface SecretDestination {
  rule: Exclude<EgressRule, { kind: "any" }>;
  isPlain: boolean;
  /** Default: 443 over TLS and 80 in clear text. */
  port: number;
}

/** Parses a secret's host; null if it is invalid. */
export function parseSecretHost(text: string): SecretDestination | null {
  const isPlain = text.startsWith(plainScheme);
  const host = isPlain ? text.slice(plainScheme.length) : text;
  const rule = parseRule(host);
  if (!rule || rule.kind === "any" || (rule.kind === "network" && host.includes("/"))) return null;
  return { rule, isPlain, port: rule.port ?? (isPlain ? 80 : 443) };
}

/** Whether a secret with this host may be sent to a place. `host`: a name in small letters, or an address without brackets. */
export function mayBeSentTo(
  allowed: string,
  { host, port, isPlain }: { host: string; port: number; isPlain: boolean },
): boolean {
  const destination = parseSecretHost(allowed);
  if (!destination || destination.isPlain !== isPlain || destination.port !== port) return false;
  const { rule } = destination;
  if (rule.kind === "below") return host.endsWith(`.${rule.name}`);
  return host === (rule.kind === "name" ? rule.name : rule.address);
}

/** A host, or all names below one. */
export const SecretHost = z.string().transform((text, context) => {
  const destination = parseSecretHost(text.trim().replace(/^http:/i, "http:"));
  if (destination) return (destination.isPlain ? plainScheme : "") + ruleText(destination.rule);
  context.addIssue({
    code: "custom",
    message: "A host must look like api.example.com, *.example.com, example.com:8443 or http://example.com.",
  });
  return z.NEVER;
});

/** Headers that control the connection, or that servers repeat in their responses by standard (CORS). */
const neverRevealed =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|origin|access-control-request-.*)$/;

export const SecretHeader = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/, "A header's name must look like authorization or x-api-key.")
  .refine((name) => !neverRevealed.test(name), "A secret cannot be sent in this header.");

/** A secret's value, as requests give it. */
export const SecretValue = z
  .string("value is required: the secret itself")
  .min(1, "A secret must not be empty.")
  .max(maximumValue, `A secret is limited to ${maximumValue} characters.`)
  .regex(/^[\x21-\x7e]+$/, "A secret is sent in a header: only printable ASCII characters without spaces are allowed.")
  .meta({ description: "Never returned again." });

export const SecretHosts = z.array(SecretHost).max(maximumHosts).meta({
  description:
    "The hosts that the value may be sent to: a host, or all names below it (`*.example.com`), with a port unless it is 443. Over TLS only, unless the host begins with `http://`.",
});

export const SecretHeaders = z.array(SecretHeader).min(1, "Set at least one header.").max(10).meta({
  description: "The request headers that the placeholder is replaced in, such as `x-api-key`.",
});

export const SetSecret = z
  .strictObject({
    value: SecretValue,
    hosts: SecretHosts.min(1, "Set at least one host that the secret may be sent to."),
    headers: SecretHeaders.default(["authorization"]),
  })
  .meta({ id: "SetSecret" });
export type SetSecret = z.infer<typeof SetSecret>;

const time = z.iso.datetime();

export const SecretRecord = z
  .object({
    name: z.string(),
    hosts: z.array(z.string()),
    headers: z.array(z.string()),
    placeholder: z
      .string()
      .meta({ description: "The placeholder that the agent's programs see and send in place of the value." }),
    from: z
      .enum(["agent", "workspace"])
      .meta({ description: "The owner of the secret. The agent's own one of a name hides the workspace's." }),
    createdBy: CreatedBy.meta({ description: "The author of the last change." }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: "Secret" });
export type SecretRecord = z.infer<typeof SecretRecord>;

export const SecretList = z
  .object({ data: z.array(SecretRecord), nextCursor: z.string().nullable() })
  .meta({ id: "SecretList", description: "The secrets that the agent can use, by name, without their values." });
export type SecretList = z.infer<typeof SecretList>;

export const SecretParams = z.object({
  name: z.string().meta({ description: "The agent's name." }),
  secret: SecretName,
});
