import { randomUUID } from "node:crypto";
import { Role, type SendMessageRequest } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import type { TestClient } from "./client.ts";

/** The client as its users make it: from the agent's address and a key. */
export async function connectA2a(name: string, { url, key }: TestClient): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return new ClientFactory(options).createFromUrl(`${url}/agents/${name}/a2a/.well-known/agent-card.json`, "");
}

/** A message with a text. */
export function request(text: string, fields: Partial<SendMessageRequest["message"]> = {}): SendMessageRequest {
  const part = { content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "" };
  const message = {
    ...{ messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, parts: [part] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    ...fields,
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}
