import type { Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useChildMatches, useLocation } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { useEffect, useRef } from "react";
import { Installing } from "../agents/Installing.tsx";
import { PrivateMark, useIsClosed } from "../agents/Private.tsx";
import { AgentBadge } from "../agents/status.tsx";
import { berth } from "../api/client.ts";
import { agentQuery } from "../api/queries.ts";
import { useIsMissing } from "../api/use-missing.ts";
import { UploadPanel } from "../files/UploadPanel.tsx";
import { Button } from "../ui/Button.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { useTitle } from "../ui/title.ts";
import { useAction } from "../ui/use-action.ts";
import { EmptyView } from "../ui/View.tsx";
import { SplitButton } from "../workbench/SplitButton.tsx";
import { sideIn } from "../workbench/side.ts";
import { AllowedOutlet } from "../workspace/AllowedOutlet.tsx";
import { useMay } from "../workspace/use-may.ts";
import { AgentMenu } from "./AgentMenu.tsx";
import { useAgentName } from "./agent-name.ts";
import { ClosedAgent } from "./ClosedAgent.tsx";
import { asksMachine, nameOfTab, needOfTab, useAgentTabs } from "./tabs.ts";

export function AgentPage() {
  const name = useAgentName();
  const isGone = useIsMissing(useQuery(agentQuery(name)), name);
  return isGone ? <NoAgent name={name} /> : <Tabs name={name} />;
}

function NoAgent({ name }: { name: string }) {
  return (
    <EmptyView title={`There is no agent ${name}`} to="/agents" label="All agents">
      It was deleted, or it is in another workspace.
    </EmptyView>
  );
}

/** One agent: its name and status over its tabs. */
function Tabs({ name }: { name: string }) {
  const query = useQuery(agentQuery(name));
  const isClosed = useIsClosed()(query.data);
  const [child] = useChildMatches();
  const tab = nameOfTab(child?.fullPath ?? "");
  useTitle(isClosed ? name : `${name}: ${tab}`);
  const tabs = useAgentTabs();
  const tabBar = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a phone, not all tabs are in view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each change of the tab
  useEffect(() => {
    tabBar.current?.querySelector("[data-status=active]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [pathname]);
  return (
    <>
      <header className="border-b bg-surface px-3 pt-2 md:px-6 md:pt-4">
        <div className="flex min-w-0 items-center gap-2">
          <Link to="/agents" aria-label="All agents" className="tap -ml-1 rounded-lg p-1 text-muted hover:bg-sunken">
            <ChevronLeft className="size-5" aria-hidden />
          </Link>
          <h1 className="truncate text-lg font-semibold">{name}</h1>
          {query.data && <AgentBadge agent={query.data} />}
          {query.data && <PrivateMark agent={query.data} />}
          <span className="ml-auto hidden truncate text-sm text-muted sm:inline">
            {query.data && [query.data.runtime, query.data.model].filter(Boolean).join(", ")}
          </span>
          {query.data && !isClosed && <SplitButton tab={tab} />}
          {query.data && (
            <span className="max-sm:ml-auto">
              <AgentMenu agent={query.data} />
            </span>
          )}
        </div>
        <nav
          ref={tabBar}
          hidden={isClosed}
          aria-label={`Views of ${name}`}
          className="scrolls-sideways -mx-3 mt-1 flex overflow-x-auto px-3 md:-mx-6 md:px-6"
        >
          {tabs.map(({ to, name: label }) => (
            <Link
              key={to}
              to={to}
              params={{ name }}
              search={to === "/agents/$name" ? sideIn : {}}
              activeOptions={{ exact: to === "/agents/$name", includeSearch: false }}
              className="shrink-0 border-b-2 border-transparent px-2.5 py-2 text-sm whitespace-nowrap text-muted hover:text-ink"
              activeProps={{ className: "!border-accent !text-ink font-medium" }}
            >
              {label}
            </Link>
          ))}
        </nav>
      </header>
      <div className="flex min-h-0 flex-1 flex-col">
        {query.data ? (
          <OfStatus agent={query.data} isClosed={isClosed} />
        ) : (
          <div className="p-6">
            <Loaded query={query}>{() => null}</Loaded>
          </div>
        )}
      </div>
      <UploadPanel agent={name} />
    </>
  );
}

function OfStatus({ agent, isClosed }: { agent: Agent; isClosed: boolean }) {
  const [child] = useChildMatches();
  if (isClosed) return <ClosedAgent agent={agent} />;
  if (agent.status === "provisioning") {
    return (
      <>
        <div className="p-4">
          <Installing name={agent.name} />
        </div>
        {!asksMachine(child?.fullPath ?? "") && <AllowedOutlet needOf={needOfTab} />}
      </>
    );
  }
  return (
    <>
      {agent.status === "failed" && <FailedAgent agent={agent} />}
      <AllowedOutlet needOf={needOfTab} />
    </>
  );
}

/** Why it failed, and what can be done. */
function FailedAgent({ agent: { name, error } }: { agent: Agent }) {
  const queries = useQueryClient();
  const mayUse = useMay("use");
  const recover = useAction(async () => {
    if (error?.code === "machine_lost") await berth.agent(name).restart({ machine: "new" });
    else await berth.agent(name).resume();
    await queries.invalidateQueries({ queryKey: agentQuery(name).queryKey });
  });
  const isLost = error?.code === "machine_lost";
  return (
    <div className="p-3">
      <Notice
        tone="bad"
        title={`${name} has failed`}
        action={
          mayUse && (
            <Button onClick={() => recover.run()} isBusy={recover.isBusy}>
              {isLost ? "Start an empty machine" : "Try again"}
            </Button>
          )
        }
      >
        {error?.message} {isLost && "Its files are gone."} {recover.error !== null && messageOf(recover.error)}
      </Notice>
    </div>
  );
}
