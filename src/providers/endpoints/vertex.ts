import { importPKCS8, SignJWT } from "jose";
import type { ServiceAccount } from "../../contract/providers.ts";
import type { ModelAnswer, ModelCall } from "../../models/provider.ts";
import { pathOf } from "../../models/wires/offered.ts";
import { isObject } from "../../models/wires/wire.ts";
import { Clock } from "../clock.ts";
import { type Answered, CredentialsRefused, type Endpoint, type HttpRequest, pick, type SendForm } from "./endpoint.ts";

// Google's models at Vertex AI: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
// Anthropic's: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude
// Tokens of service accounts: https://developers.google.com/identity/protocols/oauth2/service-account#httprest

const scope = "https://www.googleapis.com/auth/cloud-platform";
const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** The lifetime that is asked for, in seconds; Google's maximum. */
const tokenSeconds = 3_600;
/** A token is renewed this long before it expires. */
const earlyMs = 60_000;

interface Token {
  value: string;
  /** In milliseconds of `performance.now()`. */
  until: number;
}

/** Anthropic's and Google's models at Vertex AI, on behalf of a service account. */
export class VertexEndpoint implements Endpoint {
  readonly framing = "vertex";
  readonly answered = ["content-type", "retry-after", "request-id"];
  /** The address above the models of each publisher. */
  readonly #publishers: string;
  readonly #account: ServiceAccount;
  readonly #clock = new Clock();
  #token: Token | null = null;
  #fetching: Promise<Token> | null = null;

  constructor(region: string, project: string, baseUrl: string | null, account: ServiceAccount) {
    const origin = baseUrl ?? `https://${hostOf(region)}`;
    this.#publishers = `${origin}/v1/projects/${project}/locations/${region}/publishers`;
    this.#account = account;
  }

  async request({ wire, model, streamed, query, headers }: ModelCall, sendForm: SendForm): Promise<HttpRequest> {
    const { value } = await this.#fresh(sendForm);
    if (wire.name === "gemini") {
      return {
        url: `${this.#publishers}/google${pathOf(wire, model)}${query}`,
        headers: {
          ...pick(headers, ["accept", "content-type", "user-agent", "x-goog-api-client"]),
          authorization: `Bearer ${value}`,
        },
      };
    }
    const operation = wire.generates
      ? `${encodeURIComponent(model).replaceAll("%40", "@")}:${streamed ? "streamRawPredict" : "rawPredict"}`
      : "count-tokens:rawPredict";
    return {
      url: `${this.#publishers}/anthropic/models/${operation}`,
      headers: {
        ...pick(headers, ["accept", "anthropic-beta", "content-type", "user-agent"]),
        authorization: `Bearer ${value}`,
      },
    };
  }

  listing(): null {
    return null;
  }

  nameOf(id: string): string {
    return id;
  }

  unframed(answer: ModelAnswer): ModelAnswer {
    return answer;
  }

  /** The token may have been revoked. */
  mayRetry({ status, attempt }: Answered): boolean {
    if (status === 401) this.#token = null;
    return attempt === 1 && status === 401;
  }

  /** All calls wait for the same request. */
  async #fresh(sendForm: SendForm): Promise<Token> {
    if (this.#token && performance.now() < this.#token.until) return this.#token;
    this.#fetching ??= this.#fetch(sendForm).finally(() => {
      this.#fetching = null;
    });
    this.#token = await this.#fetching;
    return this.#token;
  }

  async #fetch(sendForm: SendForm, isAgain = false): Promise<Token> {
    const { client_email: email, private_key_id: kid, private_key: key, token_uri: url } = this.#account;
    const signingKey = await importPKCS8(key, "RS256").catch((cause: unknown) => {
      throw new CredentialsRefused("the service account's private key cannot be read", { cause });
    });
    const issued = Math.floor(this.#clock.now().getTime() / 1000);
    const assertion = await new SignJWT({ scope })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(kid !== undefined && { kid }) })
      .setIssuer(email)
      .setAudience(url)
      .setIssuedAt(issued)
      .setExpirationTime(issued + tokenSeconds)
      .sign(signingKey);
    const { status, date, body } = await sendForm(url, new URLSearchParams({ grant_type: grant, assertion }));
    if (status >= 500 || status === 429) throw new Error(`the token service answered ${status}`);
    const { access_token: value, expires_in: seconds } = isObject(body) ? body : {};
    if (status === 200 && typeof value === "string" && typeof seconds === "number") {
      return { value, until: performance.now() + seconds * 1000 - earlyMs };
    }
    if (!isAgain && this.#clock.follow(date)) return this.#fetch(sendForm, true);
    throw new CredentialsRefused(`the token service answered ${status}`);
  }
}

/** https://docs.cloud.google.com/vertex-ai/docs/reference/rest#service-endpoint */
function hostOf(region: string): string {
  if (region === "global") return "aiplatform.googleapis.com";
  if (region === "us" || region === "eu") return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}
