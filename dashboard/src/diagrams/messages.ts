/** The page's request to the frame. */
export interface Drawing {
  text: string;
  isDark: boolean;
}

/** The frame's answer: it is ready, the diagram's height in pixels, or why it cannot be drawn. */
export type Report = { type: "ready" } | { type: "drawn"; height: number } | { type: "failed"; reason: string };

const longestReason = 500;

/** A report from the frame, which is hostile: it runs what an agent wrote. Null: it is none. */
export function reportIn(data: unknown): Report | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, height, reason } = data as { type?: unknown; height?: unknown; reason?: unknown };
  if (type === "ready") return { type };
  if (type === "drawn" && typeof height === "number" && Number.isFinite(height)) return { type, height };
  if (type === "failed" && typeof reason === "string") return { type, reason: reason.slice(0, longestReason) };
  return null;
}
