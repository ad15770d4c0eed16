import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { EventStreamCodec } from "@smithy/core/event-streams";
import { fromUtf8, toUtf8 } from "@smithy/core/serde";
import { createParser } from "eventsource-parser";
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { demo } from "../../src/models/demo/demo.ts";
import type { ModelAnswer } from "../../src/models/provider.ts";
import { chat } from "../../src/models/wires/chat.ts";
import { generateContent, streamGenerateContent } from "../../src/models/wires/gemini.ts";
import { countTokens, messages } from "../../src/models/wires/messages.ts";
import { responses } from "../../src/models/wires/responses.ts";
import type { Wire } from "../../src/models/wires/wire.ts";

// Providers that speak their real protocols and check their authentication. The demonstration model answers.

interface ReceivedCall {
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}

/** A request without valid credentials. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export abstract class ProviderServer implements Disposable {
  readonly received: ReceivedCall[] = [];
  /** How much its clock is ahead of this host's. */
  aheadMs = 0;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => {
      if (!(error instanceof Refused)) return response.destroy(error as Error);
      response.writeHead(error.status, { date: this.now.toUTCString(), "content-type": "application/json" });
      response.end(JSON.stringify({ message: error.message }));
    });
  });

  protected async listen(): Promise<this> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return this;
  }

  get authority(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.authority}`;
  }

  get now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }

  protected abstract serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void>;

  /** The demonstration model's answer to a request in this wire. */
  protected async model(
    wire: Wire,
    body: Record<string, unknown>,
    { url = "", headers }: IncomingMessage,
  ): Promise<ModelAnswer> {
    this.received.push({ path: url, headers, body });
    const call = { wire, model: "", streamed: false, query: "", headers, body: Buffer.from(JSON.stringify(body)) };
    return demo({ ...call, signal: new AbortController().signal });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.serve(request, await buffer(request), response);
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export async function pass({ status, headers, body }: ModelAnswer, response: ServerResponse): Promise<void> {
  response.writeHead(status, headers);
  for await (const chunk of body) response.write(chunk);
  response.end();
}

/** A server that wants a key in a header, with the paths of one of the APIs. */
export class KeyServer extends ProviderServer {
  /** The name and value of the header. */
  key: readonly [name: string, value: string] | null = null;
  models: string[] = [];
  /** Whether a call is answered with 503. */
  fails: (body: Record<string, unknown>) => boolean = () => false;

  static start(): Promise<KeyServer> {
    return new KeyServer().listen();
  }

  protected async serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    if (this.key && request.headers[this.key[0]] !== this.key[1]) throw new Refused(401, "a wrong key");
    const path = request.url!.split("?")[0]!;
    if (path.endsWith("/models")) {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ data: this.models.map((id) => ({ id })) }));
    }
    const plain = path.replace(/(?<=\/models\/)[^/]+(?=:)/, "{model}");
    const all = [messages, countTokens, chat, responses, generateContent, streamGenerateContent];
    const wire = all.find((each) => plain.endsWith(each.path));
    if (!wire) throw new Refused(404, `no ${path}`);
    const asked = JSON.parse(body.toString("utf8"));
    if (this.fails(asked)) throw new Refused(503, "overloaded");
    await pass(await this.model(wire, asked, request), response);
  }
}

/** Amazon Bedrock. */
export class BedrockServer extends ProviderServer {
  readonly region = "eu-central-1";
  readonly accessKeyId = "AKIDEXAMPLE123";
  readonly secretAccessKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  readonly apiKey = "bedrock-api-key-0001";
  /** The exception that ends a stream after its first event. */
  exception: string | null = null;

  static start(): Promise<BedrockServer> {
    return new BedrockServer().listen();
  }

  protected async serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${this.apiKey}`) this.#verify(request, body);
    const [, model, operation] = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/.exec(request.url!) ?? [];
    if (!operation) throw new Refused(404, "UnknownOperationException");
    const asked = JSON.parse(body.toString("utf8"));
    const excess = ["model", "stream", "metadata", "service_tier"].find((name) => name in asked);
    if (excess || asked.anthropic_version !== "bedrock-2023-05-31") {
      throw new Refused(400, `Malformed input request: extraneous key [${excess}] is not permitted`);
    }
    const streams = operation === "invoke-with-response-stream";
    const called = { ...asked, model: decodeURIComponent(model!), ...(streams && { stream: true }) };
    const answer = await this.model(messages, called, request);
    if (!streams) return pass(answer, response);
    response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    await this.#stream(answer, response);
  }

  async #stream({ body }: ModelAnswer, response: ServerResponse): Promise<void> {
    const codec = new EventStreamCodec(toUtf8, fromUtf8);
    const send = (headers: Record<string, string>, payload: object) => {
      const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string", value }]);
      response.write(
        codec.encode({
          headers: Object.fromEntries(typed) as never,
          body: new Uint8Array(Buffer.from(JSON.stringify(payload))),
        }),
      );
    };
    let isOver = false;
    const parser = createParser({
      onEvent: ({ data }) => {
        if (isOver) return;
        const bytes = Buffer.from(data).toString("base64");
        send({ ":message-type": "event", ":event-type": "chunk" }, { bytes, p: "abcd" });
        if (this.exception === null) return;
        isOver = true;
        send({ ":message-type": "exception", ":exception-type": this.exception }, { message: "Too many requests" });
      },
    });
    for await (const chunk of body) parser.feed(String(chunk));
    response.end();
  }

  /** Signature Version 4: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
  #verify(request: IncomingMessage, body: Buffer): void {
    const { authorization = "", "x-amz-date": stamp = "" } = request.headers;
    const parts = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
    if (!parts) throw new Refused(403, "Missing Authentication Token");
    const [, scope, signedNames, signature] = parts;
    const [keyId, day, region, service] = scope!.split("/");
    const at = Date.parse(String(stamp).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
    if (keyId !== this.accessKeyId || region !== this.region || service !== "bedrock") {
      throw new Refused(403, "The security token included in the request is invalid.");
    }
    if (Math.abs(at - this.now.getTime()) > 5 * 60_000) throw new Refused(403, `Signature expired: ${stamp}`);
    const names = signedNames!.split(";");
    const hash = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
    const path = request.url!.split("/").map(encodeURIComponent).join("/");
    const headers = names.map((name) => `${name}:${String(request.headers[name]).trim()}\n`).join("");
    const canonical = ["POST", path, "", headers, names.join(";"), hash(body)].join("\n");
    const toSign = ["AWS4-HMAC-SHA256", stamp, `${day}/${region}/bedrock/aws4_request`, hash(canonical)].join("\n");
    const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
    const key = ["aws4_request"].reduce(hmac, hmac(hmac(hmac(`AWS4${this.secretAccessKey}`, day!), region!), service!));
    if (hmac(key, toSign).toString("hex") !== signature)
      throw new Refused(403, "The request signature does not match.");
  }
}

/** Google's Vertex AI, and its token service. */
export class VertexServer extends ProviderServer {
  readonly region = "europe-west1";
  readonly project = "my-project-123";
  readonly email = "agents@my-project-123.iam.gserviceaccount.com";
  /** Tokens that were given. Those that are removed are refused. */
  readonly tokens = new Set<string>();
  given = 0;
  #keys: Awaited<ReturnType<typeof generateKeyPair>> | null = null;

  static async start(): Promise<VertexServer> {
    const server = await new VertexServer().listen();
    server.#keys = await generateKeyPair("RS256", { extractable: true });
    return server;
  }

  /** The key file that Google gives. */
  async serviceAccount() {
    return {
      type: "service_account" as const,
      project_id: this.project,
      private_key_id: "key-1",
      private_key: await exportPKCS8(this.#keys!.privateKey),
      client_email: this.email,
      client_id: "1",
      token_uri: `${this.url}/token`,
    };
  }

  protected async serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    if (request.url === "/token") return this.#giveToken(body, response);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (!token || !this.tokens.has(token)) throw new Refused(401, "invalid authentication credentials");
    const publishers = `/v1/projects/${this.project}/locations/${this.region}/publishers`;
    const [, gemini, generation] =
      /^\/google\/models\/([^/:]+):(generateContent|streamGenerateContent\?alt=sse)$/.exec(
        request.url!.replace(publishers, ""),
      ) ?? [];
    if (generation) {
      const asked = JSON.parse(body.toString("utf8"));
      if (!gemini!.startsWith("gemini-") || "model" in asked || "anthropic_version" in asked)
        throw new Refused(400, "no");
      const wire = generation === "generateContent" ? generateContent : streamGenerateContent;
      return pass(await this.model(wire, asked, request), response);
    }
    const models = `${publishers}/anthropic/models/`;
    const operation = /^([^/:]+):(rawPredict|streamRawPredict)$/.exec(request.url!.replace(models, ""));
    if (!operation) throw new Refused(404, `no ${request.url}`);
    const asked = JSON.parse(body.toString("utf8"));
    const [, model, method] = operation;
    if (model === "count-tokens") return pass(await this.model(countTokens, asked, request), response);
    if ("model" in asked || asked.anthropic_version !== "vertex-2023-10-16") throw new Refused(400, "invalid request");
    if ((asked.stream === true) !== (method === "streamRawPredict")) throw new Refused(400, "a wrong method");
    await pass(await this.model(messages, { ...asked, model }, request), response);
  }

  async #giveToken(body: Buffer, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(body.toString("utf8"));
    const options = { issuer: this.email, audience: `${this.url}/token`, currentDate: this.now, clockTolerance: 60 };
    const { payload } = await jwtVerify(form.get("assertion") ?? "", this.#keys!.publicKey, options).catch(() => {
      throw new Refused(400, "invalid_grant: Invalid JWT");
    });
    if (payload.iat! > this.now.getTime() / 1000 + 60) throw new Refused(400, "invalid_grant: issued in the future");
    const token = `ya29.${++this.given}`;
    this.tokens.add(token);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ access_token: token, expires_in: 3_599, token_type: "Bearer" }));
  }
}
