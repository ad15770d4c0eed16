import { PROTOCOL_VERSION_META_KEY } from "@modelcontextprotocol/server";

/** The code of a resource that does not exist, in the revisions of 2025. The SDK has that of 2026-07-28 for all. */
const codes = { of2025: -32_002, of2026: -32_602 } as const;

/** Whether a body, or one of its batch, reads a resource by a revision of 2025, which has no version in its requests. */
export function isReading(body: unknown): boolean {
  return [body].flat().some((message) => {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { _meta?: object } };
    return method === "resources/read" && !(PROTOCOL_VERSION_META_KEY in (params?._meta ?? {}));
  });
}

/** The answer to a reading, with the code of its revision. A message is one line. */
export async function withCodeOf2025(answer: Response): Promise<Response> {
  const text = await answer.text();
  const lines = text.split("\n").map((line) => (line.includes(String(codes.of2026)) ? renamed(line) : line));
  return new Response(lines.join("\n"), { status: answer.status, headers: answer.headers });
}

function renamed(line: string): string {
  const [, prefix = "", json = ""] = /^((?:data: )?)([{[].*)$/.exec(line) ?? [];
  if (json === "") return line;
  const messages = JSON.parse(json);
  for (const { error } of [messages].flat())
    if (error?.code === codes.of2026 && error.data?.uri) error.code = codes.of2025;
  return prefix + JSON.stringify(messages);
}
