import OpenAI from "openai";
import type { TestClient } from "./client.ts";

/** The `openai` package, unmodified, with a client's key. It does not retry, so that a test sees each failure. */
export function openAiOf({ url, key }: Pick<TestClient, "url" | "key">): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
}
