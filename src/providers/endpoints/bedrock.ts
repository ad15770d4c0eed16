import { EventStreamCodec } from "@smithy/core/event-streams";
import { fromUtf8, Hash, toUtf8 } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import type { ModelAnswer, ModelCall } from "../../models/provider.ts";
import { isObject } from "../../models/wires/wire.ts";
import { Clock } from "../clock.ts";
import type { Credential } from "../provider.ts";
import type { Answered, Endpoint, HttpRequest } from "./endpoint.ts";

// Amazon Bedrock's InvokeModel with Anthropic's models:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html

type AwsCredential = Exclude<Credential, { serviceAccount: unknown }>;

/** The largest event of a stream. */
const maximumEventBytes = 16 * 1024 * 1024;
/** Lengths of the whole and of the headers, and two checksums. */
const leastEventBytes = 16;

const eventStream = "application/vnd.amazon.eventstream";

/** Exceptions within a stream as errors of Anthropic's API. */
const errorTypes: Record<string, string> = {
  throttlingException: "rate_limit_error",
  serviceUnavailableException: "overloaded_error",
  modelTimeoutException: "timeout_error",
  validationException: "invalid_request_error",
};

/** Anthropic's models at Amazon Bedrock, with a signature (SigV4) or one of Bedrock's API keys. */
export class BedrockEndpoint implements Endpoint {
  readonly framing = "bedrock";
  readonly answered = ["content-type", "retry-after", "x-amzn-requestid"];
  readonly #baseUrl: string;
  readonly #apiKey: string | null;
  readonly #signer: SignatureV4 | null;
  readonly #clock = new Clock();

  constructor(region: string, baseUrl: string | null, credential: AwsCredential) {
    this.#baseUrl = baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`;
    this.#apiKey = "apiKey" in credential ? credential.apiKey : null;
    this.#signer =
      "apiKey" in credential
        ? null
        : new SignatureV4({ region, service: "bedrock", credentials: credential, sha256: Hash.bind(null, "sha256") });
  }

  /** Bedrock counts tokens by another API, which is not offered. */
  async request({ wire, model, streamed, body }: ModelCall): Promise<HttpRequest | null> {
    if (!wire.generates) return null;
    const operation = streamed ? "invoke-with-response-stream" : "invoke";
    const url = new URL(`${this.#baseUrl}/model/${encodeURIComponent(model)}/${operation}`);
    const headers = {
      "content-type": "application/json",
      accept: streamed ? eventStream : "application/json",
    };
    if (this.#signer === null) {
      return { url: url.href, headers: { ...headers, authorization: `Bearer ${this.#apiKey}` } };
    }
    const { protocol, hostname, port, pathname: path, host } = url;
    const signed = await this.#signer.sign(
      {
        ...{ protocol, hostname, path, body },
        ...(port !== "" && { port: Number(port) }),
        method: "POST",
        query: {},
        headers: { ...headers, host },
      },
      { signingDate: this.#clock.now() },
    );
    return { url: url.href, headers: signed.headers };
  }

  listing(): null {
    return null;
  }

  nameOf(id: string): string {
    return id;
  }

  mayRetry({ status, date, attempt }: Answered): boolean {
    return attempt === 1 && status === 403 && this.#signer !== null && this.#clock.follow(date);
  }

  unframed(answer: ModelAnswer): ModelAnswer {
    if (!answer.headers["content-type"]?.startsWith(eventStream)) return answer;
    return {
      status: answer.status,
      headers: { ...answer.headers, "content-type": "text/event-stream" },
      body: eventsIn(answer.body),
    };
  }
}

/** The events of a stream as server-sent events, which Anthropic's API sends. Throws if it is malformed. */
async function* eventsIn(body: ModelAnswer["body"]): AsyncGenerator<string> {
  const codec = new EventStreamCodec(toUtf8, fromUtf8);
  let rest = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = Buffer.concat([rest, Buffer.from(chunk as Uint8Array)]);
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0);
      if (length < leastEventBytes || length > maximumEventBytes) throw new Error("an event has a wrong length");
      if (rest.length < length) break;
      const text = eventOf(codec.decode(rest.subarray(0, length)));
      rest = rest.subarray(length);
      if (text !== null) yield text;
    }
  }
}

type Message = ReturnType<EventStreamCodec["decode"]>;

/** Null: it carries nothing for the guest. */
function eventOf({ headers, body }: Message): string | null {
  const header = (name: string) => String(headers[name]?.value ?? "");
  const payload: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
  if (!isObject(payload)) return null;
  if (header(":message-type") !== "event") {
    const type = errorTypes[header(":exception-type")] ?? "api_error";
    return sse({ type: "error", error: { type, message: String(payload.message ?? header(":error-message")) } });
  }
  if (typeof payload.bytes !== "string") return null;
  const event: unknown = JSON.parse(Buffer.from(payload.bytes, "base64").toString("utf8"));
  return isObject(event) ? sse(event) : null;
}

function sse(event: Record<string, unknown>): string {
  return `event: ${String(event.type).replaceAll(/\s/g, "")}\ndata: ${JSON.stringify(event)}\n\n`;
}
