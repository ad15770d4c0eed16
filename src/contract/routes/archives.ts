import { AgentParams } from "../agents.ts";
import { ExportQuery, Import, ImportQuery } from "../archives.ts";
import { account, route } from "../route.ts";

/** Agents that leave an installation, and come into one. */
export const archiveRoutes = {
  exportAgent: route({
    method: "GET",
    path: "/agents/{name}/export",
    summary: "Export an agent as one archive",
    description:
      "A tar archive: settings, the whole history, the home folder, and what the runtime needs to continue the conversation. Its machine is woken, and does nothing else meanwhile: messages that come are answered afterwards. Refused while it answers a message. An archive that breaks off has no checksums at its end, and cannot be imported.",
    params: AgentParams,
    query: ExportQuery,
    responses: {},
    permission: account,
    givesBytes: true,
    isAuditedRead: true,
  }),
  importAgent: route({
    method: "POST",
    path: "/imports",
    summary: "Create an agent from an archive",
    description:
      "The body is the archive, of any size. All of it is received and checked before there is an agent; its machine gets the files while it is made. Nothing is billed for its history. An `Idempotency-Key` stands for the address with its query, whatever the body is.",
    query: ImportQuery,
    responses: { 201: Import },
    permission: account,
    takesBytes: "stream",
    limit: "agents",
    by: "own leader",
  }),
};
