import type { User, UserWithLink } from "@berth/client";
import { Option } from "commander";
import { isUuid } from "../../contract/ids.ts";
import { startCommand } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { runProgram } from "../server-process.ts";
import { fieldsText, statusCell, tableText } from "../table.ts";
import { printable, type Style, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";
import { addBackup, addRestore } from "./admin-backups.ts";
import { addImage } from "./admin-image.ts";

const statusStyles: Record<User["status"], Style> = { invited: "yellow", active: "green", disabled: "red" };
const mebibyte = 1024 ** 2;

/** `berth admin`. The commands for backups and images are in files next to this one. */
export function register(program: ToolCommand): void {
  const admin = program.add("admin", "administer the installation (operator only)");
  admin.add("capacity", "show host capacity and usage").prints(
    () => connect().admin.capacity(),
    ({ machines, memoryMiB, spares, queue }) =>
      fieldsText({
        "machines awake": `${machines.used} of ${machines.limit}`,
        memory: `${memoryMiB.used} of ${memoryMiB.limit} MiB`,
        "waiting for new agents": [`${spares.used} of ${spares.limit}`, spares.reason].filter(Boolean).join(": "),
        "agents queued": `${queue.used} of ${queue.limit}`,
      }),
  );
  admin.add("reachability", "show whether phones, passkeys and push messages can use the public address").prints(
    () => connect().admin.reachability(),
    ({ phone, passkeys, certificate }) =>
      [phone, passkeys, ...(certificate ? [certificate] : [])].map(({ message }) => printable(message)).join("\n"),
  );
  addBackup(admin);
  admin
    .add("adopt-host", "let the server start although its host has orphaned files; no server may run")
    .addOption(yesOption())
    .runs(adoptHost);
  addImage(admin);
  addOrphanCommands(admin);
  addRestore(admin);
  addUserCommands(admin);
  admin
    .add("signing-keys", "manage the keys that sign tokens")
    .add("replace", "sign tokens with new keys; older tokens stay valid until they expire")
    .option("--now", "invalidate everything signed with older keys, for example after a theft")
    .prints(
      ({ now = false }: { now?: boolean }) => connect().admin.replaceSigningKeys({ now }),
      ({ oldKeysUntil }, { now }) =>
        now ? "Only new keys are valid now." : `Older keys are valid until ${oldKeysUntil}.`,
    );
  addCreditCommands(admin);
}

function addOrphanCommands(admin: ToolCommand): void {
  const orphans = admin.add("orphans", "list, recover and remove quarantined files");
  orphans.add("list", "list the quarantine: files of this host that belong to no row of the database").lists({
    list: async () => ({ data: await connect().admin.orphans() }),
    empty: "The quarantine is empty.",
    columns: {
      ID: "id",
      KIND: "kind",
      AGENT: ({ agent }) => agent ?? "-",
      RUNTIME: ({ runtime }) => runtime ?? "-",
      SIZE: ({ bytes }) => `${Math.ceil(bytes / mebibyte)} MiB`,
      SINCE: ({ quarantinedAt }) => localTime(quarantinedAt),
      REMOVED: ({ removedAt }) => localTime(removedAt),
    },
  });
  const about = { id: "the id in the list", name: "the name of the new agent" };
  orphans
    .add("give-back <id> <name>", "recover a quarantined machine or snapshot as an agent", about)
    .option("--user <name>", "the user who gets the agent (default: you)")
    .addOption(new Option("--account <id>", "the account that gets the agent").conflicts("user"))
    .option("--private", "only its maker sees it, or the account's only person (default)")
    .option("--no-private", "all members of the account see it")
    .prints(
      (id: string, name: string, options: { user?: string; account?: string; private?: boolean }) =>
        connect().admin.giveBackOrphan(id, {
          name,
          user: options.user,
          account: options.account,
          private: options.private,
        }),
      ({ name }) => `${printable(name)} was recovered and is suspended.`,
    );
  orphans
    .add("remove <id>", "remove files from the quarantine permanently", about)
    .confirms((id: string) => `Remove the files of ${printable(id)} permanently?`, "Nothing was removed.")
    .prints(
      (id: string) => connect().admin.removeOrphan(id),
      () => "The files are removed.",
    );
}

/** The files of a host without a row, as the program that adopts hosts reports them. */
interface Found {
  orphans: { id: string; kind: string }[];
  dataFolder: string;
}

async function adoptHost({ yes, json }: CommonOptions & { yes?: true }): Promise<void> {
  const { orphans, dataFolder } = await runAdoption();
  if (orphans.length > 0) {
    if (!json) console.log(tableText({ KIND: "kind", ID: "id" }, orphans));
    const question = `The next start moves these files of ${printable(dataFolder)} to the quarantine. Continue?`;
    if (!yes) await requireConsent(question, "Nothing was changed.");
    await runAdoption("--accept");
  }
  if (json) return writeJson(process.stdout, { orphans, dataFolder });
  if (orphans.length === 0) return note("Every machine, snapshot and import of this host has a row in the database.");
  console.log(`The server may start: ${startCommand}. Then: berth admin orphans list`);
}

async function runAdoption(...args: string[]): Promise<Found> {
  let last: Partial<Found> & { failed?: string } = {};
  await runProgram("hosts/adopt-program.ts", (line) => (last = JSON.parse(line)), { args });
  const { orphans, dataFolder, failed = "The program exited early." } = last;
  if (orphans && dataFolder) return { orphans, dataFolder };
  throw new CliError(failed);
}

function addUserCommands(admin: ToolCommand): void {
  const users = admin.add("users", "manage users");
  users.add("list", "list the users").lists({
    list: () => connect().admin.users().take(),
    empty: "There are no users yet. To add one: berth admin users add NAME",
    columns: {
      NAME: "name",
      STATUS: ({ status }) => statusCell(statusStyles, status),
      OPERATOR: ({ operator }) => (operator ? "yes" : "no"),
      CREATED: "createdAt",
    },
  });
  const about = { name: "the user's name" };
  users
    .add("add <name>", "add a user, and print a link to set a password", about)
    .prints((name: string) => connect().admin.createUser({ name }), showLink);
  users
    .add("reset <name>", "reset a user's password: sign the user out and print a link to set a new one", about)
    .prints((name: string) => connect().admin.resetUser(name), showLink);
  users.add("disable <name>", "reject a user and the keys of its account immediately", about).prints(
    (name: string) => connect().admin.disableUser(name),
    ({ name }) => `${printable(name)} is disabled.`,
  );
  users.add("enable <name>", "enable a disabled user again", about).prints(
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
  const credits = admin.add("credits", "list and grant credits");
  credits.add("list", "list all accounts with their credits").lists({
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
  const about = { account: "a user's name or an account's id", credits: "such as 500; -500 withdraws them" };
  credits
    .add("grant <account> <credits>", "grant credits to an account, or withdraw some", about)
    .option("-n, --note <text>", "a note for the account's owner")
    .after("The accounts with their ids: berth admin credits list")
    .prints(
      (account: string, amount: string, { note }: { note?: string }) => {
        const to = isUuid(account) ? { account } : { user: account };
        return connect().admin.grantCredits({ ...to, credits: amount, note });
      },
      ({ account }) => `${printable(account.name)} has ${account.balance} credits now.`,
    );
}
