import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { MailConfig } from "../../src/config/mail.ts";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";

/** A mail as the server got it. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers and body. */
  raw: string;
  secure: boolean;
  user: string | undefined;
}

const user = "berth";
const pass = "p@ss word/%";

/** A mail server of this host, with STARTTLS or TLS, a certificate that this process trusts, and a password. */
export class MailServer implements AsyncDisposable {
  readonly received: ReceivedMail[] = [];
  readonly #server: SMTPServer;
  readonly #trusted = getCACertificates("default");
  /** The certificate's authority, in PEM. */
  readonly authority: string;
  /** Refuses a recipient: the status of the answer; 0: accepts it. */
  refusal: (address: string) => number = () => 0;
  /** The answer to the body of a mail: 0 accepts it, a status refuses it, `stall` never comes. */
  answer: () => number | "stall" = () => 0;

  /** How many mails have no answer. */
  stalled = 0;

  private constructor(start: (server: MailServer) => SMTPServer, authority: string) {
    this.authority = authority;
    setDefaultCACertificates([...this.#trusted, authority]);
    this.#server = start(this);
    // Clients that end a connection early.
    this.#server.on("error", () => {});
  }

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const authority = await makeAuthority("test");
    const { certificate: cert, key } = await certify(authority, { kind: "name", text: "localhost" }, await makeKeys());
    const server = new MailServer(
      (self) =>
        new SMTPServer({
          cert,
          key,
          onAuth: (auth, _session, done) =>
            auth.username === user && auth.password === pass
              ? done(null, { user: auth.username })
              : done(new Error("Wrong password.")),
          onRcptTo: ({ address }, _session, done) => done(errorOf(self.refusal(address))),
          onData: async (stream, session, done) => {
            const raw = await text(stream);
            const answer = self.answer();
            if (answer === "stall") return void self.stalled++;
            if (answer !== 0) return done(errorOf(answer));
            const { mailFrom, rcptTo } = session.envelope;
            self.received.push({
              from: mailFrom === false ? "" : mailFrom.address,
              to: rcptTo.map(({ address }) => address),
              raw,
              secure: session.secure,
              user: session.user as string | undefined,
            });
            done();
          },
          ...options,
        }),
      authority.certificate,
    );
    const listening = server.#server.listen(0, "127.0.0.1");
    await once(listening, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  /** The settings of a service that sends by this server. */
  config(changes: Partial<MailConfig> = {}): MailConfig {
    return {
      host: "localhost",
      port: this.port,
      isSecure: false,
      tls: "required",
      auth: { user, pass },
      from: { name: "Berth", address: "berth@example.com" },
      ...changes,
    };
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#server.connections.size;
  }

  /** The mails to an address. */
  to(address: string): ReceivedMail[] {
    return this.received.filter((mail) => mail.to.includes(address));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    setDefaultCACertificates(this.#trusted);
    for (const connection of this.#server.connections) (connection as { close(): void }).close();
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }
}

function errorOf(status: number): Error | null {
  return status === 0 ? null : Object.assign(new Error("Refused."), { responseCode: status });
}

/** The decoded text of a mail's header, without folding. */
export function headerOf(raw: string, name: string): string | undefined {
  const head = raw.slice(0, raw.indexOf("\r\n\r\n")).replaceAll(/\r\n[ \t]/g, " ");
  const line = head.split("\r\n").find((each) => each.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  const value = line?.slice(name.length + 1).trim();
  return value
    ?.replaceAll(/\?= =\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, coded: string) =>
      kind.toUpperCase() === "B" ? Buffer.from(coded, "base64").toString() : unquoted(coded.replaceAll("_", " ")),
    );
}

/** The decoded parts of a mail: its plain text and its HTML. */
export function partsOf(raw: string): { text: string; html: string } {
  const boundary = /boundary="([^"]+)"/.exec(raw)![1]!;
  const parts = raw.split(`--${boundary}`).slice(1, 3);
  const [plain = "", html = ""] = parts.map((part) => {
    const start = part.indexOf("\r\n\r\n");
    const body = part.slice(start + 4).replace(/\r\n$/, "");
    const coding = /content-transfer-encoding: (\S+)/i.exec(part.slice(0, start))?.[1]?.toLowerCase();
    if (coding === "base64") return Buffer.from(body, "base64").toString();
    return coding === "quoted-printable" ? unquoted(body) : body;
  });
  return { text: plain.replaceAll("\r\n", "\n"), html: html.replaceAll("\r\n", "\n") };
}

function unquoted(coded: string): string {
  const bytes = coded
    .replaceAll(/=\r\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
