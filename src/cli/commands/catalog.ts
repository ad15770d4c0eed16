import type { Runtime } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { fieldsText, tableText } from "../table.ts";

/** `berth whoami`, `runtimes` and `models`: the caller, and the service's choices. */
export function register(program: ToolCommand): void {
  program.add("whoami", "show the account in use").prints(
    async () => {
      const client = connect();
      const [account, { workspace }] = await Promise.all([client.account(), client.me()]);
      return { ...account, workspace: workspace.name, role: workspace.role };
    },
    ({ name, workspace, role, operator, credential, id }) =>
      fieldsText({
        account: name,
        workspace,
        role,
        by: credential === "token" ? "a login" : "a key",
        operator: operator ? "yes" : "no",
        server: connect().connection.url,
        id,
      }),
  );
  program.add("runtimes", "list the runtimes that agents can use, and their limits").prints(
    async () => ({ data: await connect().runtimes(), nextCursor: null }),
    ({ data }) => runtimesText(data),
  );
  program
    .add("models", "list the models that agents can use")
    .after("Prices are credits per million tokens (CREDITS/M).")
    .lists({
      list: () => connect().models().take(),
      empty: "No models are available.",
      columns: {
        ID: "id",
        RUNTIMES: ({ runtimes }) => runtimes.join(", ") || "none",
        "INPUT CREDITS/M": ({ inputPrice }) => inputPrice ?? "unknown",
        "OUTPUT CREDITS/M": ({ outputPrice }) => outputPrice ?? "unknown",
      },
    });
}

function runtimesText(runtimes: readonly Runtime[]): string {
  const columns = {
    NAME: "name",
    VERSION: ({ version }: Runtime) => version ?? "unknown",
    "DEFAULT MODEL": ({ defaultModel }: Runtime) => defaultModel ?? "its own choice",
  } as const;
  const table = tableText(columns, runtimes);
  const limits = runtimes.flatMap(limitsOf);
  if (limits.length === 0) return table;
  return `${table}\n\n${tableText({ RUNTIME: "runtime", CANNOT: "ability", WHY: "reason" }, limits)}`;
}

/** One row for each thing a runtime cannot do, or can do only in some cases. */
function limitsOf({ name, abilities }: Runtime) {
  return Object.entries(abilities)
    .filter(([, { supported, reason }]) => !supported || reason !== null)
    .map(([ability, { supported, reason }]) => ({
      runtime: name,
      ability: supported ? `${ability} (in part)` : ability,
      reason,
    }));
}
