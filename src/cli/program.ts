import { Command, CommanderError } from "commander";
import { readVersion } from "./checkout.ts";
import { registerGrant } from "./commands/admin-credits-grant.ts";
import { registerCreditsList } from "./commands/admin-credits-list.ts";
import { registerSigningKeysReplace } from "./commands/admin-signing-keys-replace.ts";
import { registerUsersAdd } from "./commands/admin-users-add.ts";
import { registerUsersDisable } from "./commands/admin-users-disable.ts";
import { registerUsersList } from "./commands/admin-users-list.ts";
import { registerUsersReset } from "./commands/admin-users-reset.ts";
import { registerCreate } from "./commands/agents-create.ts";
import { registerDelete } from "./commands/agents-delete.ts";
import { registerGet } from "./commands/agents-get.ts";
import { registerList } from "./commands/agents-list.ts";
import { registerLogs } from "./commands/agents-logs.ts";
import { registerGetNetwork } from "./commands/agents-network-get.ts";
import { registerNetworkLog } from "./commands/agents-network-log.ts";
import { registerSetNetwork } from "./commands/agents-network-set.ts";
import { registerReset } from "./commands/agents-reset.ts";
import { registerRestart } from "./commands/agents-restart.ts";
import { registerResume } from "./commands/agents-resume.ts";
import { registerListSecrets } from "./commands/agents-secrets-list.ts";
import { registerRemoveSecret } from "./commands/agents-secrets-remove.ts";
import { registerSetSecret } from "./commands/agents-secrets-set.ts";
import { registerSuspend } from "./commands/agents-suspend.ts";
import { registerTurns } from "./commands/agents-turns.ts";
import { registerUpdate } from "./commands/agents-update.ts";
import { registerApi } from "./commands/api.ts";
import { registerAudit } from "./commands/audit.ts";
import { registerEntries } from "./commands/billing-entries.ts";
import { registerLimit } from "./commands/billing-limit.ts";
import { registerBilling } from "./commands/billing-show.ts";
import { registerTopUp } from "./commands/billing-top-up.ts";
import { registerUsage } from "./commands/billing-usage.ts";
import { registerChat } from "./commands/chat.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerDown } from "./commands/down.ts";
import { registerCreateKey } from "./commands/keys-create.ts";
import { registerListKeys } from "./commands/keys-list.ts";
import { registerRevokeKey } from "./commands/keys-revoke.ts";
import { registerLogin } from "./commands/login.ts";
import { registerLogout } from "./commands/logout.ts";
import { registerModels } from "./commands/models.ts";
import { registerRuntimes } from "./commands/runtimes.ts";
import { registerUp } from "./commands/up.ts";
import { registerWhoami } from "./commands/whoami.ts";
import type { CommonOptions } from "./options.ts";
import { reportError } from "./report.ts";

const footer = `
Environment:
  BERTH_URL                where the server is (else BERTH_HOST and BERTH_PORT: http://127.0.0.1:7420)
  BERTH_API_KEY            the key (else the login of berth login, else the operator's key in the data folder)
  BERTH_DATA_DIR           the server's data folder

Exit codes: 0 done, 1 the service refused or failed, 2 wrong use, 130 interrupted.

Examples:
  berth up --detach
  berth agents create ada
  berth chat ada "What can you do?"
  berth agents update ada --instructions - < instructions.md
  berth agents turns ada
  berth agents logs ada --follow
  berth agents network log ada
  berth agents secrets set ada GITHUB_TOKEN --host api.github.com
  berth keys create --name "my website" --agent ada --expires 90d
  berth api GET /agents`;

const agentCommands = [
  registerList,
  registerCreate,
  registerGet,
  registerUpdate,
  registerSuspend,
  registerResume,
  registerRestart,
  registerReset,
  registerTurns,
  registerLogs,
  registerDelete,
];

function createProgram(): Command {
  const program = new Command("berth")
    .description("Run agents on your own machine, each in its own virtual machine.")
    .version(readVersion(), "-V, --version", "show the version")
    .exitOverride()
    .showHelpAfterError("To see how it is used, add --help.")
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "berth: ")) })
    .addHelpText("after", footer);
  registerUp(program);
  registerDown(program);
  registerDoctor(program);
  const agents = program.command("agents").description("manage agents");
  for (const register of agentCommands) register(agents);
  const network = agents.command("network").description("manage where an agent may connect to");
  for (const register of [registerGetNetwork, registerSetNetwork, registerNetworkLog]) register(network);
  const secrets = agents.command("secrets").description("manage secrets that an agent can use but not read");
  for (const register of [registerListSecrets, registerSetSecret, registerRemoveSecret]) register(secrets);
  registerChat(program);
  registerLogin(program);
  registerLogout(program);
  registerWhoami(program);
  registerRuntimes(program);
  registerModels(program);
  const keys = program.command("keys").description("manage API keys");
  for (const register of [registerListKeys, registerCreateKey, registerRevokeKey]) register(keys);
  const billing = program.command("billing").description("show credits and usage, and set a limit");
  for (const register of [registerBilling, registerEntries, registerUsage, registerLimit, registerTopUp])
    register(billing);
  registerAudit(program);
  registerApi(program);
  const admin = program.command("admin").description("administer the installation (operator only)");
  const users = admin.command("users").description("manage users");
  for (const register of [registerUsersList, registerUsersAdd, registerUsersReset, registerUsersDisable])
    register(users);
  registerSigningKeysReplace(admin.command("signing-keys").description("manage the keys that sign tokens"));
  const credits = admin.command("credits").description("list and grant credits");
  for (const register of [registerCreditsList, registerGrant]) register(credits);
  return program;
}

/** Runs the command in `process.argv` and returns the exit code, unless the command has set one. */
export async function runCommand(): Promise<number | undefined> {
  let json = false;
  try {
    const program = createProgram();
    program.hook("preAction", (_, command) => {
      json = command.opts<CommonOptions>().json ?? false;
    });
    await program.parseAsync();
    return;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return await reportError(error, json);
  }
}
