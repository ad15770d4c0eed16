import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ChangeProvider, type CreateProvider, type Provider } from "@berth/client";
import { Option } from "commander";
import { kindFacts, type ProviderKind, providerKinds } from "../../contract/providers.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { repeatable } from "../options.ts";
import { readSecret } from "../prompt.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface SettingOptions {
  baseUrl?: string;
  region?: string;
  project?: string;
  model?: string[];
}

interface CredentialOptions {
  secret?: string;
  accessKeyId?: string;
  keyFile?: string;
}

interface ScopeOptions {
  installation?: true;
  personal?: true;
}

interface WaitOptions {
  /** False: with --no-wait. */
  wait: boolean;
}

type AddOptions = SettingOptions & CredentialOptions & ScopeOptions & WaitOptions & { kind: ProviderKind; key?: false };
type UpdateOptions = SettingOptions & CredentialOptions & ScopeOptions & { newKey?: true };

const scopeWords = { person: "you", workspace: "workspace", installation: "all" };
const pollMs = 2_000;
const noWait = "for chatgpt: do not wait until the login is finished";
const about = { name: "the provider's name (see berth providers list)" };

const addHelp = `
The key is asked for, or read from standard input; it is on no command line. Models are named PROVIDER/MODEL.

Examples:
  berth providers add anthropic --kind anthropic
  berth providers add claude --kind claude              # the token of \`claude setup-token\`
  berth providers add chatgpt --kind chatgpt            # prints a page and a code, and waits for you
  berth providers add local --kind openai-compatible --base-url http://127.0.0.1:8000/v1 --no-key --installation
  berth providers add openai --kind openai --secret OPENAI_KEY   # set with --host api.openai.com
  berth providers add azure --kind azure --base-url https://RESOURCE.openai.azure.com --model my-deployment
  berth providers add bedrock --kind bedrock --region eu-central-1 --access-key-id AKIA…
  berth providers add vertex --kind vertex --region europe-west1 --project my-project --key-file account.json`;

export function register(program: ToolCommand): void {
  const providers = program.add("providers", "manage accounts at providers of models");
  providers.add("list", "list the providers of models that the workspace can use").lists({
    list: () => connect().providers.list(),
    empty: "There are no providers: agents use the demonstration model. To add one: berth providers add --help",
    columns: {
      NAME: ({ name }: Provider) => name,
      KIND: "kind",
      FOR: ({ scope, source }) => (source === "environment" ? "all (environment)" : scopeWords[scope]),
      KEY: keyText,
      RUNTIMES: ({ runtimes }) => runtimes.join(" "),
      MODELS: ({ models }) => models?.map(printable).join(" ") ?? "",
    },
  });
  addSettings(providers.add("add <name>", "add a provider of models", { name: "the first part of its models' ids" }))
    .addOption(new Option("-k, --kind <kind>", "the kind of provider").choices(providerKinds).makeOptionMandatory())
    .option("--no-key", "for a compatible server that needs none")
    .option("--no-wait", noWait)
    .addHelpText("after", addHelp)
    .prints(add, providerText);
  addSettings(providers.add("update <name>", "change a provider's address, models or credentials", about))
    .option("--new-key", "ask for another key; implied by --base-url, --access-key-id and --key-file")
    .prints(update, providerText);
  providers
    .add("delete <name>", "delete a provider with its credentials", about)
    .option("--installation", "one of the installation; for its operator")
    .addOption(personal())
    .confirms(
      (name: string) =>
        `Delete the provider ${printable(name)}? Agents that use its models fail until they have others.`,
      "Nothing was deleted.",
    )
    .prints(
      (name: string, options: ScopeOptions) => connect().providers.delete(name, scopeOf(options)),
      (_, name) => note(`Deleted ${printable(name)}.`),
    );
  providers
    .add("login <name>", "connect a subscription again", about)
    .addOption(personal())
    .option("--no-wait", noWait)
    .prints(login, providerText);
  providers
    .add("test <name>", "test a provider with a call for one token", about)
    .option("-m, --model <name>", "the name of the model that is called; default: the provider's first")
    .option("--installation", "one of the installation; for its operator")
    .addOption(personal())
    .prints(test, ({ model, durationMs }) => `${printable(model)} answered in ${durationMs} ms.`);
}

function personal(): Option {
  return new Option("--personal", "a subscription for you alone, and your private agents").conflicts("installation");
}

function addSettings(command: ToolCommand): ToolCommand {
  return command
    .option("--base-url <url>", "the API's address, if it is not the kind's usual one")
    .option("--region <region>", "for bedrock and vertex")
    .option("--project <id>", "for vertex")
    .addOption(repeatable("-m, --model <name>", "the name of a model; can be repeated; default: those that it lists"))
    .option("--secret <name>", "a secret of the workspace as its key, which is then not asked for")
    .option("--access-key-id <id>", "for bedrock; its secret is asked for")
    .option("--key-file <file>", "for vertex: the key file of a service account")
    .option("--installation", "for all workspaces; for the operator")
    .addOption(personal());
}

async function add(name: string, options: AddOptions): Promise<Provider> {
  const { kind, key } = options;
  const credentials = key === false || kind === "chatgpt" ? {} : await credentialsOf(kind, options);
  const asked = { name, kind, ...scopeOf(options), ...settingsOf(options), ...credentials } as CreateProvider;
  return finished(await connect().providers.create(asked), options);
}

/** A Claude subscription has no login at the vendor: it gets another token. */
async function login(name: string, options: WaitOptions & ScopeOptions): Promise<Provider> {
  const { providers } = connect();
  try {
    return await finished(await providers.login(name, scopeOf(options)), options);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "request_invalid")) throw error;
    const found = (await providers.list()).find((each) => each.name === name);
    if (found?.kind !== "claude") throw error;
    return providers.update(name, await credentialsOf("claude", {}), scopeOf(options));
  }
}

/** Waits until a person has finished the login. */
async function finished(provider: Provider, { wait }: WaitOptions): Promise<Provider> {
  const { name, login } = provider;
  if (login?.status !== "pending" || !wait) return provider;
  // Also where the tool is quiet: without it, nobody can finish the login.
  console.error(`${loginText(provider)}\nWaiting for it. Ctrl-C leaves it to the server.`);
  for (;;) {
    await sleep(pollMs);
    const current = (await connect().providers.list()).find(
      (each) => each.name === name && each.scope === provider.scope,
    );
    if (!current) throw new CliError(`The provider ${printable(name)} was deleted.`);
    if (current.login?.status === "pending") continue;
    if (current.login?.status === "connected") return current;
    throw new CliError(
      `The login failed. ${printable(current.login?.reason ?? "")} To begin it again: berth providers login ${printable(name)}`,
    );
  }
}

async function update(name: string, options: UpdateOptions): Promise<Provider> {
  const { providers } = connect();
  const { baseUrl, newKey, secret, accessKeyId, keyFile } = options;
  const isNew = newKey || [baseUrl, secret, accessKeyId, keyFile].some((given) => given !== undefined);
  const change: ChangeProvider = settingsOf(options);
  if (!isNew && Object.keys(change).length === 0) {
    throw new CliError(
      "Nothing to change. Pass at least one of --base-url, --region, --project, --model, --new-key, --secret, …",
      2,
    );
  }
  if (isNew) {
    const { scope = "workspace" } = scopeOf(options);
    const found = (await providers.list()).find((each) => each.name === name && each.scope === scope);
    if (!found) throw new CliError(`There is no provider ${printable(name)} (see berth providers list).`);
    // The hosts of its secret decide about another address.
    if (secret !== undefined || newKey || found.secret === null)
      Object.assign(change, await credentialsOf(found.kind, options));
  }
  return providers.update(name, change, scopeOf(options));
}

async function test(name: string, { model, ...options }: ScopeOptions & { model?: string }) {
  const result = await connect().providers.test(name, { ...(model !== undefined && { model }) }, scopeOf(options));
  if (result.error) throw new CliError(`${result.model}: ${result.error.message}`);
  return result;
}

function scopeOf({ installation, personal }: ScopeOptions): { scope?: "installation" | "person" } {
  if (installation) return { scope: "installation" };
  return personal ? { scope: "person" } : {};
}

function settingsOf({ baseUrl, region, project, model }: SettingOptions): ChangeProvider {
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(region !== undefined && { region }),
    ...(project !== undefined && { project }),
    ...(model !== undefined && { models: model }),
  };
}

async function credentialsOf(kind: ProviderKind, options: CredentialOptions): Promise<ChangeProvider> {
  const { secret, accessKeyId, keyFile } = options;
  if (secret !== undefined) return { secret };
  if (keyFile !== undefined) return { serviceAccount: await readKeyFile(keyFile) };
  if (kindFacts[kind].needs.every((set) => set.includes("serviceAccount"))) {
    throw new CliError(`A provider of the kind ${kind} needs --key-file FILE.`, 2);
  }
  const key = kind === "claude" ? "Token of claude setup-token" : "Key";
  const words = accessKeyId === undefined ? `${key}: ` : `Secret of ${accessKeyId}: `;
  const value = (await readSecret(words)).trim();
  if (value === "") throw new CliError("The key is empty; nothing was set.", 2);
  return accessKeyId === undefined ? { apiKey: value } : { accessKeyId, secretAccessKey: value };
}

async function readKeyFile(path: string): Promise<NonNullable<ChangeProvider["serviceAccount"]>> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CliError(`${printable(path)} cannot be read: ${(error as Error).message}`);
  });
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${printable(path)} is not JSON; download the key file of a service account.`);
  }
}

function loginText({ login }: Provider): string {
  const { verificationUrl, userCode } = login!;
  return `Open ${printable(verificationUrl ?? "")} and enter the code ${printable(userCode ?? "")}\nNever pass the code on.`;
}

function keyText({ credential, readable, login, secret, problem }: Provider): string {
  if (problem !== null) return "its secret cannot be used";
  if (secret !== null) return `secret ${printable(secret)}`;
  if (!readable) return "cannot be read: set it again";
  if (login?.status === "pending") return "login not finished";
  return login?.status === "failed" ? "login failed" : printable(credential ?? "");
}

function providerText(provider: Provider): string {
  const { name, kind, scope, baseUrl, credential, secret, problem, models, runtimes, login } = provider;
  if (login?.status === "pending") return loginText(provider);
  const lines: [string, string][] = [
    ["name", name],
    ["kind", kind],
    ["address", baseUrl ?? "the usual one"],
    ...(login ? ([["login", login.reason ?? login.status]] satisfies [string, string][]) : []),
    ...(secret !== null ? ([["secret", secret]] satisfies [string, string][]) : []),
    ["key", problem ?? credential ?? "none"],
    ["models", models?.join(" ") ?? (kind === "chatgpt" ? "any" : "those that it lists")],
    ["runtimes", runtimes.join(" ")],
  ];
  const texts = lines.map(([label, value]) => `${label.padEnd(8)}  ${printable(value)}`);
  const flag = { person: " --personal", workspace: "", installation: " --installation" }[scope];
  return [...texts, `\nTo try it: berth providers test ${printable(name)}${flag}`].join("\n");
}
