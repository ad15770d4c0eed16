import { Socket } from "node:net";
import { createTransport } from "nodemailer";
import type { MailConfig } from "../config/mail.ts";
import { unlessAborted } from "../core/abort.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { Channel, Notification, SendFailure } from "./channel.ts";
import { linkMail, type MailText, notificationMail } from "./mail-text.ts";
import type { ProfileState } from "./profile.ts";

const connectMs = 10_000;
/** Without any byte from the server. */
const silenceMs = 20_000;

/** Mail by the operator's server. */
export class Mail implements Channel {
  readonly name = "email";
  /** Null: the server sends no mail. */
  readonly #config: MailConfig | null;
  readonly #sealing: Sealing;
  /** The service's public URL. */
  readonly #address: { readonly public: string };

  constructor(config: MailConfig | null, sealing: Sealing, address: { readonly public: string }) {
    this.#config = config;
    this.#sealing = sealing;
    this.#address = address;
  }

  get isConfigured(): boolean {
    return this.#config !== null;
  }

  async missing({ email, emailVerified, emailNotifications }: ProfileState): Promise<string | null> {
    if (this.#config === null) return notConfigured;
    if (!emailNotifications) return "Notifications by mail are off.";
    if (email === null) return "There is no e-mail address.";
    return emailVerified ? null : "The e-mail address is not verified.";
  }

  send({ personId, email }: ProfileState, notification: Notification, signal: AbortSignal): Promise<SendFailure> {
    const base = this.#address.public;
    const unsubscribe = `${base}/unsubscribe/${this.#sealing.seal(personId, unsubscribing).toString("base64url")}`;
    return this.#send(email!, notificationMail(notification, base, unsubscribe), signal);
  }

  /** Sends the link that confirms an address. */
  sendLink(email: string, token: string, signal: AbortSignal): Promise<SendFailure> {
    return this.#send(email, linkMail(`${this.#address.public}/-/verify-email#${token}`), signal);
  }

  /** The person that the token of a mail is for; null: it is not valid. */
  unsubscribed(token: string): string | null {
    return this.#sealing.open(Buffer.from(token, "base64url"), unsubscribing);
  }

  async #send(email: string, { id, ...text }: MailText, signal: AbortSignal): Promise<SendFailure> {
    const { host, port, isSecure, tls, auth, from } = this.#config!;
    const socket = new Socket();
    const transport = createTransport({
      ...{ host, port, secure: isSecure, socket, auth: auth ?? undefined },
      requireTLS: tls === "required",
      ignoreTLS: tls === "off",
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      dnsTimeout: connectMs,
      socketTimeout: silenceMs,
    });
    const messageId = id && `<${id}@${from.address.split("@")[1]}>`;
    const sending = transport.sendMail({
      ...text,
      ...(messageId && { messageId }),
      from,
      to: { name: "", address: email },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await unlessAborted(sending, signal);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      return failureOf(error as MailError);
    } finally {
      socket.destroy();
    }
  }
}

const notConfigured = "The server sends no mail. Its operator sets BERTH_SMTP_URL and BERTH_MAIL_FROM.";
/** The purpose of the token in a mail. */
const unsubscribing = "unsubscribe";

interface MailError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
}

const reasons: Readonly<Record<string, string>> = {
  EDNS: "Its name has no address.",
  ETIMEDOUT: "It did not answer in time.",
  ETLS: "TLS failed: it is not offered, or the certificate is not trusted.",
  EAUTH: "It offers no way to sign in.",
  EPROTOCOL: "Its answer is not SMTP.",
};

/** The text of the server is for the log of the server, and not for people. */
function failureOf({ code, command = "", responseCode = 0 }: MailError): SendFailure {
  const isRefused = responseCode >= 500 && responseCode < 600;
  if (isRefused && command.startsWith("RCPT")) {
    return { message: `The mail server refused the address (${responseCode}).`, isFinal: true };
  }
  if (isRefused && command.startsWith("DATA")) {
    return { message: `The mail server refused the mail (${responseCode}).`, isFinal: true };
  }
  if (responseCode > 0) {
    return {
      message: `The mail server answered ${responseCode}${command && ` to ${command.split(" ")[0]}`}.`,
      isFinal: false,
    };
  }
  const reason = reasons[code ?? ""] ?? "The connection failed.";
  return { message: `The mail server could not be used. ${reason}`, isFinal: false };
}
