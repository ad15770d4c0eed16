import type { User, UserWithLink } from "@berth/client";
import { isUuid } from "../../contract/ids.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { fieldsText, statusCell } from "../table.ts";
import { printable, type Style } from "../terminal.ts";
import { addBackup, addRestore } from "./admin-backups.ts";
import { addAdoptHost, addOrphanCommands } from "./admin-orphans.ts";

const statusStyles: Record<User["status"], Style> = { invited: "yellow", active: "green", disabled: "red" };

/** `berth admin`. The commands for backups and for quarantined files are in the files next to this one. */
export function register(program: ToolCommand): void {
  const admin = program.command("admin").description("administer the installation (operator only)");
  admin
    .command("capacity")
    .description("show host capacity and usage")
    .prints(
      () => connect().admin.capacity(),
      ({ machines, memoryMiB, spares, queue }) =>
        fieldsText({
          "machines awake": `${machines.used} of ${machines.limit}`,
          memory: `${memoryMiB.used} of ${memoryMiB.limit} MiB`,
          "waiting for new agents": `${spares.used} of ${spares.limit}`,
          "agents queued": `${queue.used} of ${queue.limit}`,
        }),
    );
  addBackup(admin);
  addAdoptHost(admin);
  addOrphanCommands(admin);
  addRestore(admin);
  addUserCommands(admin);
  const keys = admin.command("signing-keys").description("manage the keys that sign tokens");
  keys
    .command("replace")
    .description("sign tokens with new keys; older tokens stay valid until they expire")
    .option("--now", "invalidate everything signed with older keys, for example after a theft")
    .prints(
      ({ now = false }: { now?: boolean }) => connect().admin.replaceSigningKeys({ now }),
      ({ oldKeysUntil }, { now }) =>
        now ? "Only new keys are valid now." : `Older keys are valid until ${oldKeysUntil}.`,
    );
  addCreditCommands(admin);
}

function addUserCommands(admin: ToolCommand): void {
  const users = admin.command("users").description("manage users");
  users
    .command("list")
    .description("list the users")
    .lists({
      list: () => connect().admin.users().take(),
      empty: "There are no users yet. To add one: berth admin users add NAME",
      columns: {
        NAME: "name",
        STATUS: ({ status }) => statusCell(statusStyles, status),
        OPERATOR: ({ operator }) => (operator ? "yes" : "no"),
        CREATED: "createdAt",
      },
    });
  const user = (verb: string, description: string) =>
    users.command(verb).description(description).argument("<name>", "the user's name");

  user("add", "add a user, and print a link to set a password").prints(
    (name: string) => connect().admin.createUser({ name }),
    showLink,
  );
  user("reset", "reset a user's password: sign the user out and print a link to set a new one").prints(
    (name: string) => connect().admin.resetUser(name),
    showLink,
  );
  user("disable", "reject a user and the keys of its account immediately").prints(
    (name: string) => connect().admin.disableUser(name),
    ({ name }) => `${printable(name)} is disabled.`,
  );
  user("enable", "enable a disabled user again").prints(
    (name: string) => connect().admin.enableUser(name),
    ({ name }) => `${printable(name)} is enabled again.`,
  );
}

/** Shows the link, which works once. */
function showLink({ name, link }: UserWithLink): void {
  console.error(`With this link, once and within 72 hours, ${printable(name)} sets a password:`);
  console.log(printable(link));
}

function addCreditCommands(admin: ToolCommand): void {
  const credits = admin.command("credits").description("list and grant credits");
  credits
    .command("list")
    .description("list all accounts with their credits")
    .lists({
      list: () => connect().admin.credits().take(),
      columns: {
        ACCOUNT: "accountId",
        NAME: "name",
        BALANCE: "balance",
        HELD: "held",
        "SPENT THIS MONTH": "spentThisMonth",
        "MONTHLY LIMIT": ({ monthlyLimit }) => monthlyLimit ?? "none",
      },
    });
  credits
    .command("grant")
    .description("grant credits to an account, or withdraw some")
    .argument("<account>", "a user's name or an account's id")
    .argument("<credits>", "such as 500; -500 withdraws them")
    .option("-n, --note <text>", "a note for the account's owner")
    .addHelpText("after", "\nThe accounts with their ids: berth admin credits list")
    .prints(
      (account: string, amount: string, { note }: { note?: string }) => {
        const to = isUuid(account) ? { account } : { user: account };
        return connect().admin.grantCredits({ ...to, credits: amount, note });
      },
      ({ account }) => `${printable(account.name)} has ${account.balance} credits now.`,
    );
}
