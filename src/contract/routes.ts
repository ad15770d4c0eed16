import { accountRoutes } from "./routes/account.ts";
import { adminRoutes } from "./routes/admin.ts";
import { agentRoutes } from "./routes/agents.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { archiveRoutes } from "./routes/archives.ts";
import { automationRoutes } from "./routes/automations.ts";
import { billingRoutes } from "./routes/billing.ts";
import { catalogRoutes } from "./routes/catalog.ts";
import { chatRoutes } from "./routes/chat.ts";
import { commandRoutes } from "./routes/commands.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { egressRoutes } from "./routes/egress.ts";
import { fileRoutes } from "./routes/files.ts";
import { inboxRoutes } from "./routes/inbox.ts";
import { notificationRoutes } from "./routes/notifications.ts";
import { openAiRoutes } from "./routes/openai.ts";
import { portRoutes } from "./routes/ports.ts";
import { providerRoutes } from "./routes/providers.ts";
import { publicRoutes } from "./routes/public.ts";
import { pushRoutes } from "./routes/push.ts";
import { queueRoutes } from "./routes/queue.ts";
import { searchRoutes } from "./routes/search.ts";
import { skillRoutes } from "./routes/skills.ts";
import { snapshotRoutes } from "./routes/snapshots.ts";
import { sshRoutes } from "./routes/ssh.ts";
import { terminalRoutes } from "./routes/terminals.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { vaultRoutes } from "./routes/vault.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { wireRoutes } from "./routes/wires.ts";
import { workspaceRoutes } from "./routes/workspaces.ts";

/**
 * All API operations. The HTTP server, the OpenAPI document, permissions, limits, the audit log and the client are
 * derived from this table.
 */
export const routes = {
  ...publicRoutes,
  ...dashboardRoutes,
  ...agentRoutes,
  ...approvalRoutes,
  ...automationRoutes,
  ...webhookRoutes,
  ...conversationRoutes,
  ...queueRoutes,
  ...snapshotRoutes,
  ...archiveRoutes,
  ...chatRoutes,
  ...searchRoutes,
  ...uploadRoutes,
  ...openAiRoutes,
  ...commandRoutes,
  ...terminalRoutes,
  ...fileRoutes,
  ...portRoutes,
  ...sshRoutes,
  ...catalogRoutes,
  ...providerRoutes,
  ...egressRoutes,
  ...vaultRoutes,
  ...skillRoutes,
  ...accountRoutes,
  ...workspaceRoutes,
  ...pushRoutes,
  ...notificationRoutes,
  ...inboxRoutes,
  ...billingRoutes,
  ...adminRoutes,
  ...wireRoutes,
};
