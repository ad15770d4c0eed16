import type { InboxItem } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { isAllowable, isPrivateAddress, ruleFor } from "../agent/allowable.ts";
import { berth } from "../api/client.ts";
import { approvalsQuery, networkQuery } from "../api/queries.ts";
import { ApprovalButtons, ApprovalDiff, approvalVerbs, visible } from "../conversation/ApprovalCard.tsx";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";

/** The buttons that settle an item without leaving the list. The service removes the item. */
export function ItemActions({ item }: { item: InboxItem }) {
  const { type, agent, host } = item;
  if (type === "turn.waiting") return <ApprovalActions item={item} />;
  if (type === "network.refused" && agent !== null && host !== null && host !== "*") {
    return <HostActions agent={agent} refused={{ host, port: item.port, reason: item.code }} />;
  }
  return null;
}

function ApprovalActions({ item: { turnId, approvalId } }: { item: InboxItem }) {
  const { data: approvals = [] } = useQuery(approvalsQuery);
  const approval = approvals.find((each) => each.id === approvalId && each.turnId === turnId);
  if (!approval) return null;
  const { agent, kind, subject, title, diff } = approval;
  return (
    <>
      <p className="wrap-anywhere">
        {agent} wants to {approvalVerbs[kind]} <code className="text-[13px]">{visible(subject ?? title)}</code>
      </p>
      {diff && diff.length > 0 && (
        <details className="mt-2 grid gap-2" open>
          <summary className="cursor-pointer text-muted">
            {diff.length === 1 ? "The change" : `The ${diff.length} changes`}
          </summary>
          <div className="mt-2 grid gap-2">
            <ApprovalDiff diff={diff} />
          </div>
        </details>
      )}
      <ApprovalButtons agent={agent} turnId={approval.turnId} id={approval.id} hasSubject={subject !== null} />
    </>
  );
}

interface HostProps {
  agent: string;
  refused: { host: string; port: number | null; reason: string | null };
}

function HostActions({ agent, refused }: HostProps) {
  const queries = useQueryClient();
  const mayUse = useMay("use");
  const { data: policy } = useQuery(networkQuery(agent));
  const decide = useAction(async (list: "allow" | "deny") => {
    const { allow, deny } = await queries.fetchQuery({ ...networkQuery(agent), staleTime: 0 });
    const rule = ruleFor(refused);
    const added = list === "allow" ? { allow: [...allow, rule], deny } : { allow, deny: [...deny, rule] };
    queries.setQueryData(networkQuery(agent).queryKey, await berth.agent(agent).network.set(added));
  });
  const isOfLists = refused.reason === "asked" || refused.reason === "not_allowed";
  if (!policy || !mayUse || !isOfLists) return null;
  const mayAllow = isAllowable(refused, policy);
  return (
    <>
      {isPrivateAddress(refused.host) && <p className="text-muted">Private addresses are always refused.</p>}
      <div className="mt-2 flex flex-wrap gap-2 empty:hidden">
        {mayAllow && (
          <Button isBusy={decide.isBusy} onClick={() => decide.run("allow")}>
            Allow
          </Button>
        )}
        {policy.ask && (
          <Button isBusy={decide.isBusy} onClick={() => decide.run("deny")}>
            Deny
          </Button>
        )}
      </div>
      <Failure of={decide.error} />
    </>
  );
}
