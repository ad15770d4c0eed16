import { useParams } from "@tanstack/react-router";

/** The agent whose page this is. */
export function useAgentName(): string {
  return useParams({ from: "/shell/agents/$name" }).name;
}
