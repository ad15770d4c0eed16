import type { Provider } from "@berth/client";

export type Kind = Provider["kind"];

/** A field of the form. */
export type FieldName =
  | "baseUrl"
  | "region"
  | "project"
  | "apiKey"
  | "accessKeyId"
  | "secretAccessKey"
  | "serviceAccount";

interface KindFacts {
  label: string;
  /** Required fields. */
  needs: readonly FieldName[];
  allows: readonly FieldName[];
  /** Whether it lists its models. Otherwise any name is valid. */
  lists: boolean;
}

/** The kinds of providers, and what each needs. */
export const kinds: Readonly<Record<Kind, KindFacts>> = {
  anthropic: { label: "Anthropic", needs: ["apiKey"], allows: ["baseUrl"], lists: true },
  openai: { label: "OpenAI", needs: ["apiKey"], allows: ["baseUrl"], lists: true },
  "openai-compatible": {
    label: "OpenAI-compatible",
    needs: ["baseUrl"],
    allows: ["apiKey"],
    lists: true,
  },
  google: { label: "Google Gemini", needs: ["apiKey"], allows: ["baseUrl"], lists: true },
  azure: { label: "Azure OpenAI", needs: ["baseUrl", "apiKey"], allows: [], lists: false },
  bedrock: {
    label: "Amazon Bedrock",
    needs: ["region", "accessKeyId", "secretAccessKey"],
    allows: ["baseUrl"],
    lists: false,
  },
  vertex: {
    label: "Google Vertex AI",
    needs: ["region", "project", "serviceAccount"],
    allows: ["baseUrl"],
    lists: false,
  },
  claude: { label: "Claude subscription", needs: ["apiKey"], allows: [], lists: true },
  chatgpt: { label: "ChatGPT subscription", needs: [], allows: [], lists: false },
};

export const credentialNames: readonly FieldName[] = ["apiKey", "accessKeyId", "secretAccessKey", "serviceAccount"];

const labels: Readonly<Record<FieldName, string>> = {
  baseUrl: "Address",
  region: "Region",
  project: "Project",
  apiKey: "API key",
  accessKeyId: "Access key id",
  secretAccessKey: "Secret access key",
  serviceAccount: "Key file of the service account",
};

const placeholders: Partial<Readonly<Record<FieldName, string>>> = {
  project: "my-project-123",
  accessKeyId: "AKIA…",
  serviceAccount: '{ "type": "service_account", … }',
};

/** The field's name in the form. */
export function labelOf(field: FieldName, kind: Kind): string {
  return field === "apiKey" && kind === "claude" ? "Token of claude setup-token" : labels[field];
}

/** An example of a field's value. */
export function exampleOf(field: FieldName, kind: Kind): string | undefined {
  if (field === "region") return kind === "vertex" ? "europe-west1" : "eu-central-1";
  if (field !== "baseUrl") return placeholders[field];
  if (kind === "azure") return "https://RESOURCE.openai.azure.com";
  return kind === "openai-compatible" ? "https://models.example.com/v1" : "Only if it is not the usual one";
}
