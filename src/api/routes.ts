import { accountRoutes } from "./routes/account.ts";
import { adminRoutes } from "./routes/admin.ts";
import { agentRoutes } from "./routes/agents.ts";
import { billingRoutes } from "./routes/billing.ts";
import { catalogRoutes } from "./routes/catalog.ts";
import { chatRoutes } from "./routes/chat.ts";
import { egressRoutes } from "./routes/egress.ts";
import { publicRoutes } from "./routes/public.ts";

/**
 * Every operation of the interface, once. The HTTP server, its OpenAPI document, permissions, limits, the audit log and
 * the client read it from here.
 */
export const routes = {
  ...publicRoutes,
  ...agentRoutes,
  ...chatRoutes,
  ...catalogRoutes,
  ...egressRoutes,
  ...accountRoutes,
  ...billingRoutes,
  ...adminRoutes,
};
