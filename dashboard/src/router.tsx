import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { invitationToken, mailToken } from "./api/link-token.ts";
import { accountQuery, meQuery, queries } from "./api/queries.ts";
import { changeFiltersIn } from "./changes/source.ts";
import { filePlaceIn } from "./files/place.ts";
import { Failed } from "./shell/Failed.tsx";
import { NotFound } from "./shell/NotFound.tsx";
import { Shell } from "./shell/Shell.tsx";
import { SignedOut } from "./shell/SignedOut.tsx";
import { filtersIn } from "./ui/filters.ts";
import { Loading } from "./ui/Notice.tsx";
import { portIn, type Side, sideIn } from "./workbench/side.ts";

// Each view is a file of its own, fetched when it is gone to.

const root = createRootRoute({ component: Outlet });

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  loader: () => Promise.all([queries.ensureQueryData(accountQuery), queries.ensureQueryData(meQuery)]),
  component: Shell,
});

const signedOut = createRoute({
  getParentRoute: () => root,
  path: "/signed-out",
  validateSearch: ({ code }): { code?: string } => (typeof code === "string" ? { code } : {}),
  component: SignedOut,
});

const join = createRoute({
  getParentRoute: () => root,
  path: "/join",
  beforeLoad: ({ location: { hash } }) => {
    if (hash === "") return;
    invitationToken.keep(hash);
    throw redirect({ to: "/join", replace: true });
  },
  loader: () => invitationToken.kept(),
  component: lazyRouteComponent(() => import("./join/Join.tsx"), "Join"),
});

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: lazyRouteComponent(() => import("./home/Home.tsx"), "Home"),
});

const inbox = createRoute({
  getParentRoute: () => shell,
  path: "/inbox",
  validateSearch: filtersIn("kind", "unread"),
  component: lazyRouteComponent(() => import("./inbox/Inbox.tsx"), "Inbox"),
});

const agents = createRoute({
  getParentRoute: () => shell,
  path: "/agents",
  validateSearch: filtersIn("search", "status", "order"),
  component: lazyRouteComponent(() => import("./agents/AgentList.tsx"), "AgentList"),
});

const createAgent = createRoute({
  getParentRoute: () => shell,
  path: "/create-agent",
  component: lazyRouteComponent(() => import("./agents/CreateAgent.tsx"), "CreateAgent"),
});

const agent = createRoute({
  getParentRoute: () => shell,
  path: "/agents/$name",
  component: lazyRouteComponent(() => import("./agent/AgentPage.tsx"), "AgentPage"),
});

const conversation = createRoute({
  getParentRoute: () => agent,
  path: "/",
  validateSearch: ({ conversation, ...search }): Side & { conversation?: number | undefined } => ({
    ...(typeof conversation === "number" && { conversation }),
    ...sideIn(search),
  }),
  component: lazyRouteComponent(() => import("./workbench/Workbench.tsx"), "Workbench"),
});

const changes = createRoute({
  getParentRoute: () => agent,
  path: "/changes",
  validateSearch: changeFiltersIn,
  component: lazyRouteComponent(() => import("./changes/Changes.tsx"), "Changes"),
});

const files = createRoute({
  getParentRoute: () => agent,
  path: "/files",
  validateSearch: filePlaceIn,
  component: lazyRouteComponent(() => import("./files/Files.tsx"), "Files"),
});

const terminal = createRoute({
  getParentRoute: () => agent,
  path: "/terminal",
  component: lazyRouteComponent(() => import("./agent/TerminalTab.tsx"), "TerminalTab"),
});

const ports = createRoute({
  getParentRoute: () => agent,
  path: "/ports",
  validateSearch: portIn,
  component: lazyRouteComponent(() => import("./agent/Ports.tsx"), "Ports"),
});

const turns = createRoute({
  getParentRoute: () => agent,
  path: "/turns",
  component: lazyRouteComponent(() => import("./agent/Turns.tsx"), "Turns"),
});

const turn = createRoute({
  getParentRoute: () => agent,
  path: "/turns/$turnId",
  component: lazyRouteComponent(() => import("./agent/TurnPage.tsx"), "TurnPage"),
});

const logs = createRoute({
  getParentRoute: () => agent,
  path: "/logs",
  component: lazyRouteComponent(() => import("./agent/Logs.tsx"), "Logs"),
});

const network = createRoute({
  getParentRoute: () => agent,
  path: "/network",
  validateSearch: filtersIn("verdict"),
  component: lazyRouteComponent(() => import("./agent/Network.tsx"), "Network"),
});

const secrets = createRoute({
  getParentRoute: () => agent,
  path: "/secrets",
  component: lazyRouteComponent(() => import("./agent/Secrets.tsx"), "Secrets"),
});

const snapshots = createRoute({
  getParentRoute: () => agent,
  path: "/snapshots",
  component: lazyRouteComponent(() => import("./agent/Snapshots.tsx"), "Snapshots"),
});

const connect = createRoute({
  getParentRoute: () => agent,
  path: "/connect",
  validateSearch: filtersIn("client"),
  component: lazyRouteComponent(() => import("./connect/Connect.tsx"), "Connect"),
});

const settings = createRoute({
  getParentRoute: () => agent,
  path: "/settings",
  component: lazyRouteComponent(() => import("./agent/Settings.tsx"), "Settings"),
});

const automations = createRoute({
  getParentRoute: () => shell,
  path: "/automations",
  component: lazyRouteComponent(() => import("./automations/Automations.tsx"), "Automations"),
});

const automation = createRoute({
  getParentRoute: () => shell,
  path: "/automations/$name",
  component: lazyRouteComponent(() => import("./automations/AutomationPage.tsx"), "AutomationPage"),
});

const providers = createRoute({
  getParentRoute: () => shell,
  path: "/providers",
  validateSearch: ({ add }): { add?: boolean } => (add === true ? { add } : {}),
  component: lazyRouteComponent(() => import("./providers/Providers.tsx"), "Providers"),
});

const workspaceSecrets = createRoute({
  getParentRoute: () => shell,
  path: "/secrets",
  component: lazyRouteComponent(() => import("./secrets/Secrets.tsx"), "Secrets"),
});

const skills = createRoute({
  getParentRoute: () => shell,
  path: "/skills",
  component: lazyRouteComponent(() => import("./skills/Skills.tsx"), "Skills"),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("./webhooks/Webhooks.tsx"), "Webhooks"),
});

const webhook = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks/$id",
  component: lazyRouteComponent(() => import("./webhooks/WebhookPage.tsx"), "WebhookPage"),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: "/keys",
  component: lazyRouteComponent(() => import("./keys/Keys.tsx"), "Keys"),
});

const credits = createRoute({
  getParentRoute: () => shell,
  path: "/credits",
  validateSearch: filtersIn("days", "agent", "kind", "since", "until"),
  component: lazyRouteComponent(() => import("./credits/Credits.tsx"), "Credits"),
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: "/audit",
  validateSearch: filtersIn("agent", "outcome", "search", "since", "until"),
  component: lazyRouteComponent(() => import("./audit/Audit.tsx"), "Audit"),
});

const members = createRoute({
  getParentRoute: () => shell,
  path: "/members",
  component: lazyRouteComponent(() => import("./members/Members.tsx"), "Members"),
});

const notifications = createRoute({
  getParentRoute: () => shell,
  path: "/notifications",
  component: lazyRouteComponent(() => import("./notifications/Notifications.tsx"), "Notifications"),
});

const verifyEmail = createRoute({
  getParentRoute: () => shell,
  path: "/verify-email",
  beforeLoad: ({ location: { hash } }) => {
    if (hash === "") return;
    mailToken.keep(hash);
    throw redirect({ to: "/verify-email", replace: true });
  },
  loader: () => mailToken.kept(),
  component: lazyRouteComponent(() => import("./notifications/VerifyEmail.tsx"), "VerifyEmail"),
});

const operator = createRoute({
  getParentRoute: () => shell,
  path: "/operator",
  beforeLoad: async () => {
    if (!(await queries.ensureQueryData(accountQuery)).operator) throw redirect({ to: "/" });
  },
  component: lazyRouteComponent(() => import("./operator/Operator.tsx"), "Operator"),
});

/** With the navigation around it. */
const unknown = createRoute({ getParentRoute: () => shell, path: "$", component: NotFound });

const ofAgent = agent.addChildren([
  conversation,
  changes,
  files,
  terminal,
  ports,
  turns,
  turn,
  logs,
  network,
  snapshots,
  secrets,
  connect,
  settings,
]);
const inShell = shell.addChildren([
  home,
  inbox,
  agents,
  createAgent,
  ofAgent,
  automations,
  automation,
  providers,
  workspaceSecrets,
  skills,
  webhooks,
  webhook,
  keys,
  credits,
  audit,
  members,
  notifications,
  verifyEmail,
  operator,
  unknown,
]);

/** The identity provider leads back to `/`. */
if (!location.pathname.startsWith("/-")) history.replaceState(null, "", `/-/${location.search}`);

export const router = createRouter({
  routeTree: root.addChildren([inShell, signedOut, join]),
  basepath: "/-",
  defaultPreload: "intent",
  defaultErrorComponent: Failed,
  defaultNotFoundComponent: NotFound,
  defaultPendingComponent: () => (
    <div className="p-6">
      <Loading />
    </div>
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
