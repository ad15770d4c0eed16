import { Link } from "@tanstack/react-router";
import { useIsWide } from "../workbench/use-is-wide.ts";
import { useSide } from "../workbench/use-side.ts";

interface ReviewLinkProps {
  agent: string;
  turnId: string;
  className: string;
}

/** Opens a turn's changes: in the split view where one is open, else as the agent's view. */
export function ReviewLink({ agent, turnId, className }: ReviewLinkProps) {
  const { side } = useSide();
  const isBeside = useIsWide() && side !== undefined;
  if (isBeside) {
    const search = (before: object) => ({ ...before, beside: "changes" as const, turn: turnId, since: undefined });
    return (
      <Link to="/agents/$name" params={{ name: agent }} search={search} className={className}>
        Review
      </Link>
    );
  }
  return (
    <Link to="/agents/$name/changes" params={{ name: agent }} search={{ turn: turnId }} className={className}>
      Review
    </Link>
  );
}
