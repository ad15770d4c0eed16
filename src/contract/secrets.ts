import { z } from "zod";
import { type EgressRule, parseRule, ruleText } from "./egress-rules.ts";

const maximumHosts = 50;
/** HTTP servers accept 8 KiB of headers in total, so longer values would be useless. */
const maximumValue = 4_096;

/** Variables that programs act on: a placeholder in them would break the machine or redirect its programs. */
const reserved =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|TERM|PWD|IFS|ENV|BASH_.*|LD_.*|LC_.*|NODE_.*|SSL_.*|(HTTPS?|NO|ALL)_PROXY|NPM_CONFIG_.*|GIT_.*|PYTHON.*|PERL.*|ANTHROPIC_(BASE_URL|AUTH_TOKEN)|OPENAI_BASE_URL)$/;

export const SecretName = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    "A secret's name has 1 to 64 characters of A-Z, 0-9 and _, and begins with a letter.",
  )
  .refine((name) => !reserved.test(name), "This name means something to programs in the machine; take another.")
  .meta({ description: "The name of the variable in which the agent's programs find the placeholder." });

const plainScheme = "http://";

/** Where a secret's value may be sent: over TLS or, for a host written with `http://`, in clear text. */
export interface SecretDestination {
  rule: Exclude<EgressRule, { kind: "any" }>;
  isPlain: boolean;
  /** By default 443 over TLS and 80 in clear text. */
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

/** A host, or all names below one. */
export const SecretHost = z.string().transform((text, context) => {
  const destination = parseSecretHost(text.trim().replace(/^http:/i, "http:"));
  if (destination) return (destination.isPlain ? plainScheme : "") + ruleText(destination.rule);
  context.addIssue({
    code: "custom",
    message: "A host is such as api.example.com, *.example.com, example.com:8443 or http://example.com.",
  });
  return z.NEVER;
});

/** Headers that steer the connection, or that servers repeat in their answers by standard (CORS). */
const neverRevealed =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|origin|access-control-request-.*)$/;

export const SecretHeader = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/, "A header's name is such as authorization or x-api-key.")
  .refine((name) => !neverRevealed.test(name), "A value is not sent in this header.");

export const SetSecret = z
  .strictObject({
    value: z
      .string("value is required: the secret itself")
      .min(1, "A secret has at least one character.")
      .max(maximumValue, `A secret has ${maximumValue} characters at most.`)
      .regex(/^[\x21-\x7e]+$/, "A secret travels in a header: printable ASCII characters without spaces are allowed.")
      .meta({ description: "Never shown again." }),
    hosts: z
      .array(SecretHost)
      .min(1, "At least one host is needed: the secret is sent to no other.")
      .max(maximumHosts)
      .meta({
        description:
          "Where the value may go: a host, or all names below it (`*.example.com`), with a port where it is not 443. Over TLS only, unless the host begins with `http://`.",
      }),
    headers: z.array(SecretHeader).min(1, "At least one header is needed.").max(10).default(["authorization"]).meta({
      description: "The request headers in which the placeholder is replaced, such as `x-api-key`.",
    }),
  })
  .meta({ id: "SetSecret" });
export type SetSecret = z.infer<typeof SetSecret>;

const time = z.iso.datetime();

export const SecretRecord = z
  .object({
    name: z.string(),
    hosts: z.array(z.string()),
    headers: z.array(z.string()),
    placeholder: z.string().meta({ description: "What the agent's programs see and send in place of the value." }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: "Secret" });
export type SecretRecord = z.infer<typeof SecretRecord>;

export const SecretList = z
  .object({ data: z.array(SecretRecord), nextCursor: z.string().nullable() })
  .meta({ id: "SecretList", description: "The agent's secrets by name, without their values." });
export type SecretList = z.infer<typeof SecretList>;

export const SecretParams = z.object({
  name: z.string().meta({ description: "The agent's name." }),
  secret: SecretName,
});
