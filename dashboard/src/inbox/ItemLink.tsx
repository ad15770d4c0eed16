import type { InboxItem } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface ItemLinkProps {
  item: InboxItem;
  className: string;
  children: ReactNode;
}

/** Leads to where the item can be dealt with. */
export function ItemLink({ item, className, children }: ItemLinkProps) {
  const { type, agent, turnId, conversation, automation, webhookId } = item;
  const given = { className, "data-inbox-item": item.id };
  if (automation !== null)
    return (
      <Link {...given} to="/automations/$name" params={{ name: automation }}>
        {children}
      </Link>
    );
  if (webhookId !== null)
    return (
      <Link {...given} to="/webhooks/$id" params={{ id: webhookId }}>
        {children}
      </Link>
    );
  if (agent !== null && type === "network.refused")
    return (
      <Link {...given} to="/agents/$name/network" params={{ name: agent }}>
        {children}
      </Link>
    );
  if (agent !== null && type === "turn.failed" && turnId !== null)
    return (
      <Link {...given} to="/agents/$name/turns/$turnId" params={{ name: agent, turnId }}>
        {children}
      </Link>
    );
  if (agent !== null)
    return (
      <Link
        {...given}
        to="/agents/$name"
        params={{ name: agent }}
        search={conversation === null ? {} : { conversation }}
      >
        {children}
      </Link>
    );
  const to = type.startsWith("provider.") ? "/providers" : type.startsWith("secret.") ? "/secrets" : "/credits";
  return (
    <Link {...given} to={to}>
      {children}
    </Link>
  );
}
