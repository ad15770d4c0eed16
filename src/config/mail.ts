import { z } from "zod";
import { ConfigError } from "./variables.ts";

/** The server that sends mail. */
export interface MailConfig {
  host: string;
  port: number;
  /** TLS from the first byte, as `smtps://` says. */
  isSecure: boolean;
  /** STARTTLS for `smtp://`. `offered`: if the server offers it, on this host. */
  tls: "required" | "offered" | "off";
  auth: { user: string; pass: string } | null;
  from: { name: string; address: string };
}

export const mailVariables = {
  BERTH_SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: "Must be a URL that begins with smtp:// or smtps://." })
    .refine((text) => URL.canParse(text) && new URL(text).hostname !== "", "It has no host.")
    .refine(
      (text) => URL.canParse(text) && ["", "?tls=off"].includes(new URL(text).search),
      "The only parameter is tls=off.",
    )
    .refine((text) => !/%(?![0-9a-f]{2})/i.test(text), "Signs in the user and the password are percent-encoded.")
    .optional(),
  BERTH_MAIL_FROM: z
    .string()
    .max(320)
    .transform((text, context) => {
      const [, name = "", inBrackets, alone] = /^(?:([^<>"\p{Cc}]{0,60}?) ?<([^<>]+)>|([^<> ]+))$/u.exec(text) ?? [];
      const address = z.email().safeParse(inBrackets ?? alone);
      if (address.success) return { name, address: address.data };
      context.issues.push({ code: "custom", input: text, message: "Must be ADDRESS or NAME <ADDRESS>." });
      return z.NEVER;
    })
    .optional(),
};

interface MailValues {
  BERTH_SMTP_URL?: string | undefined;
  BERTH_MAIL_FROM?: MailConfig["from"] | undefined;
}

/** Null: the server sends no mail. Throws `ConfigError`. */
export function mail({ BERTH_SMTP_URL: text, BERTH_MAIL_FROM: from }: MailValues): MailConfig | null {
  if (text === undefined) {
    if (from === undefined) return null;
    throw new ConfigError("BERTH_MAIL_FROM: it is for a mail server; BERTH_SMTP_URL is not set.");
  }
  if (from === undefined) throw new ConfigError("BERTH_MAIL_FROM: with BERTH_SMTP_URL it is needed: the sender.");
  const url = new URL(text);
  const isSecure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isHere = ["127.0.0.1", "::1", "localhost"].includes(host);
  const isOff = url.search !== "";
  const auth =
    url.username === "" ? null : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
  if (isOff && (isSecure || auth)) {
    throw new ConfigError("BERTH_SMTP_URL: tls=off is for smtp:// without a user and a password.");
  }
  const port = url.port === "" ? (isSecure ? 465 : 587) : Number(url.port);
  return { host, port, isSecure, tls: isOff ? "off" : isHere ? "offered" : "required", auth, from };
}
