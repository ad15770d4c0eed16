import { AgentParams } from "../agents.ts";
import { ExportQuery, Import, ImportQuery } from "../archives.ts";
import { route, using } from "../route.ts";

/** Export and import of agents. */
export const archiveRoutes = {
  exportAgent: route({
    method: "GET",
    path: "/agents/{name}/export",
    summary: "Export an agent as one archive",
    description:
      "A tar archive: settings, the complete history, the home folder, and the runtime's state for continuing the conversation. Wakes the machine and uses it exclusively: messages that arrive are answered afterwards. Refused during a turn. An incomplete archive lacks the checksums at its end, and cannot be imported.",
    params: AgentParams,
    query: ExportQuery,
    responses: {},
    permission: using,
    givesBytes: ["application/x-tar"],
    isAudited: true,
  }),
  importAgent: route({
    method: "POST",
    path: "/imports",
    summary: "Create an agent from an archive",
    description:
      "The body is the archive, of any size. It is received and checked completely before the agent is created; its machine gets the files while it is made. Its history is not billed. An `Idempotency-Key` identifies the address with its query, whatever the body.",
    query: ImportQuery,
    responses: { 201: Import },
    permission: using,
    takesBytes: "stream",
    limit: "agents",
    by: "own leader",
  }),
};
