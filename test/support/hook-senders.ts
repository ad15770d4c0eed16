import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Answer } from "./client.ts";

/** A request to a hook, as its sender makes it. */
export interface Sent {
  headers: Record<string, string>;
  body: string;
}

const json = "application/json";
const form = "application/x-www-form-urlencoded";
const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");
const nowSeconds = () => Math.floor(Date.now() / 1000);

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers */
export function github(secret: string, event: string, id: string, payload: object, isForm = false): Sent {
  const text = JSON.stringify(payload);
  const body = isForm ? new URLSearchParams({ payload: text }).toString() : text;
  return {
    body,
    headers: {
      "content-type": isForm ? form : json,
      "user-agent": "GitHub-Hookshot/044aadd",
      "x-github-event": event,
      "x-github-delivery": id,
      "x-github-hook-id": "292430182",
      "x-hub-signature": `sha1=${createHmac("sha1", secret).update(body).digest("hex")}`,
      "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
    },
  };
}

/** https://docs.gitlab.com/user/project/integrations/webhooks/#delivery-headers */
export function gitlab(secret: string, event: string, id: string, payload: object): Sent {
  return {
    body: JSON.stringify(payload),
    headers: {
      "content-type": json,
      "user-agent": "GitLab/18.0.0-pre",
      "idempotency-key": id,
      "x-gitlab-event": event,
      "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e",
      "x-gitlab-webhook-uuid": "02affd2d-2cba-4033-917d-ec22d5dc4b38",
      "x-gitlab-token": secret,
    },
  };
}

/** https://docs.slack.dev/authentication/verifying-requests-from-slack. `payload`: JSON of an event, or fields of a command. */
export function slack(secret: string, payload: object | URLSearchParams, time = nowSeconds()): Sent {
  const isForm = payload instanceof URLSearchParams;
  const body = isForm ? payload.toString() : JSON.stringify(payload);
  return {
    body,
    headers: {
      "content-type": isForm ? form : json,
      "x-slack-request-timestamp": String(time),
      "x-slack-signature": `v0=${hmac(secret, `v0:${time}:${body}`)}`,
    },
  };
}

/** Signed by the package of Standard Webhooks. */
export function standard(secret: string, id: string, payload: object, time = new Date()): Sent {
  const body = JSON.stringify(payload);
  return {
    body,
    headers: {
      "content-type": json,
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(time.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign(id, time, body),
    },
  };
}

export function bearer(secret: string, payload: object | string, id?: string): Sent {
  return {
    body: typeof payload === "string" ? payload : JSON.stringify(payload),
    headers: {
      "content-type": typeof payload === "string" ? "text/plain" : json,
      authorization: `Bearer ${secret}`,
      ...(id !== undefined && { "idempotency-key": id }),
    },
  };
}

/** The status, the headers and the JSON of the answer. */
export async function send(url: string, { headers, body }: Sent): Promise<Answer> {
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
