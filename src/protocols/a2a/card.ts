import { A2A_PROTOCOL_VERSION, AgentCard } from "@a2a-js/sdk";
import type { AgentState } from "../../agents/agent.ts";
import { imageTypes } from "../../contract/uploads.ts";

/** The service's part of a card. */
export interface CardFacts {
  version: string;
  /** Without a trailing slash. */
  publicUrl: string;
  /** The OpenID provider whose tokens are accepted. */
  issuer: string;
}

const text = "text/plain";
const inputs = [text, ...imageTypes, "application/octet-stream"];

/** The card of an agent: its address, input formats, and accepted credentials. */
export function cardOf({ name, runtime }: AgentState, { version, publicUrl, issuer }: CardFacts): unknown {
  const description = `An agent on Berth, built on ${runtime}, with its own virtual machine and conversation.`;
  const requirement = (scheme: string) => ({ schemes: { [scheme]: { list: [] } } });
  return AgentCard.toJSON({
    name,
    description,
    version,
    provider: undefined,
    supportedInterfaces: [
      {
        url: `${publicUrl}/agents/${name}/a2a`,
        protocolBinding: "JSONRPC",
        protocolVersion: A2A_PROTOCOL_VERSION,
        tenant: "",
      },
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions: [] },
    securitySchemes: {
      key: {
        scheme: {
          $case: "httpAuthSecurityScheme",
          value: { description: "An API key.", scheme: "Bearer", bearerFormat: "berth_…" },
        },
      },
      oidc: {
        scheme: {
          $case: "openIdConnectSecurityScheme",
          value: {
            description: "A token of a signed-in user.",
            openIdConnectUrl: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
          },
        },
      },
    },
    securityRequirements: [requirement("key"), requirement("oidc")],
    defaultInputModes: inputs,
    defaultOutputModes: [text],
    skills: [
      {
        id: "chat",
        name: "Answer and work",
        description: "Answers messages, runs programs and works on files in its own machine.",
        tags: ["chat", "code", "shell"],
        examples: [],
        inputModes: inputs,
        outputModes: [text],
        securityRequirements: [],
      },
    ],
    signatures: [],
  });
}
