import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Adoption, Challenge, GuestSecrets, Health, Hello, Proof, Welcome } from "../contract/guest.ts";
import { guestCalls } from "../contract/guest-calls.ts";
import { isProof, newNonce, proofOf } from "../core/channel-proof.ts";
import { readJsonLine, writeJsonLine } from "../core/socket-line.ts";
import { endRuntime } from "../runtimes/process.ts";
import type { Runtime, RuntimeContext } from "../runtimes/runtime.ts";
import { agentFolderHandlers } from "./agent-folders.ts";
import type { ClientFunctions } from "./client-functions.ts";
import { commandHandlers } from "./commands/command-handlers.ts";
import { Commands } from "./commands/commands.ts";
import { GuestError, type GuestHandlers, serveCalls } from "./control.ts";
import { Conversation } from "./conversation.ts";
import type { Downloads } from "./downloads.ts";
import { exec } from "./exec.ts";
import { GuestFiles } from "./files/files.ts";
import type { Identity } from "./identity.ts";
import { type Journal, Journals } from "./journal.ts";
import { endOf, logLines } from "./log.ts";
import { portHandlers } from "./ports.ts";
import { Ssh } from "./ssh.ts";
import type { Syncer } from "./sync.ts";
import type { Uplink } from "./uplink.ts";

/** How long the server may take to open a channel. */
const helloTimeoutMs = 30_000;

/** Clock lag in milliseconds from which a call sets the clock. */
const toleratedMs = 500;

/** The runner's access to the machine that it runs in. */
export interface RunnerOptions {
  runtimes: readonly Runtime[];
  context: RuntimeContext;
  journalFolder: string;
  uplink: Uplink;
  downloads: Downloads;
  functions: ClientFunctions;
  /** The identity that an earlier runner received in the same run; null before the first adoption. */
  identity: Identity | null;
  /** The server's token before the first adoption. */
  firstToken: string;
  /** Turns the machine, previously `before`, into the adopted one. */
  adopt(adoption: Adoption, before: Identity | null): Promise<Identity>;
  /** Sets the secrets' placeholders for the machine's programs, and makes them trust the authority. */
  provide(secrets: GuestSecrets): Promise<void>;
  /** In milliseconds since 1970. */
  setClock(time: number): Promise<void>;
  sync: Syncer;
  /** The log of the runner and the runtime. */
  logFile: string;
  /** Whether programs other than the runtime's own are busy. Takes a second. */
  busy(own: ReadonlySet<string>): Promise<boolean>;
}

/** The runner: serves the server's connections and drives the runtime. The caller makes it listen. */
export async function createRunner(options: RunnerOptions): Promise<Server> {
  const { context, uplink } = options;
  let { identity } = options;
  let token = identity?.token ?? options.firstToken;
  const journals = new Journals(options.journalFolder);
  await journals.closeInterrupted();
  const commands = new Commands(join(context.stateFolder, "commands"), context);
  const { functions } = options;
  const conversation = new Conversation(
    options.runtimes,
    context,
    journals,
    options.sync,
    functions,
    () => uplink.calls,
  );

  /** In a clone the runtime already runs; a freshly booted guest starts it now, ahead of the first message. */
  const take = (taken: Identity) => {
    identity = taken;
    token = taken.token;
    conversation.choose(taken.runtime);
    void conversation.open().catch((error: Error) => context.log(error.message));
  };
  if (identity) take(identity);

  const provide = onceEach(options.provide);
  const sockets = new Set<Socket>();
  const health = () => ({
    machineId: identity?.machineId ?? "",
    bootId: identity?.bootId ?? "",
    ...conversation.state,
  });
  const adopt: GuestHandlers["adopt"] = async (adoption, { peerPort }) => {
    // Connections from before a suspension have no peer.
    for (const socket of sockets) if (socket.remotePort !== peerPort) socket.destroy();
    // A snapshot may have been made during a turn, which belongs to another machine.
    conversation.abandon();
    const [taken] = await Promise.all([options.adopt(adoption, identity), provide(adoption.secrets)]);
    take(taken);
    return health();
  };
  const files = new GuestFiles(context);
  const ssh = new Ssh(context, () => identity?.machineId ?? "");
  const handlers = { ...handlersOf({ options, conversation, journals, commands, files, ssh, provide, health }), adopt };
  const control = serveCalls(guestCalls, handlers, async (time) => {
    if (time > Date.now() + toleratedMs) await options.setClock(time);
  });

  const serve = async (socket: Socket) => {
    const { channel, download } = await proved(socket, token);
    if (channel === "download") await options.downloads.take(socket, download!);
    writeJsonLine(socket, { ok: true } satisfies Welcome);
    if (channel === "control") control.emit("connection", socket);
    else if (channel === "uplink") uplink.attach(socket);
    else socket.write("", () => socket.destroy()); // Not ended: the process that moves the download shares the socket.
  };
  return listener(sockets, serve).on("close", () => files.end());
}

/** Adds each connection to `sockets` and serves it. A refused connection gets the reason. */
function listener(sockets: Set<Socket>, serve: (socket: Socket) => Promise<void>): Server {
  return createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.setNoDelay(true);
    socket.on("error", () => {});
    serve(socket).catch((error: Error) => {
      writeJsonLine(socket, { ok: false, reason: error.message } satisfies Welcome);
      socket.end();
    });
  });
}

function known(journal: Journal | null): Journal {
  if (!journal) throw new GuestError("turn_unknown", "no such turn");
  return journal;
}

interface HandlerParts {
  options: RunnerOptions;
  conversation: Conversation;
  journals: Journals;
  commands: Commands;
  files: GuestFiles;
  ssh: Ssh;
  provide: (secrets: GuestSecrets) => Promise<void>;
  health: () => Health;
}

function handlersOf(parts: HandlerParts): Omit<GuestHandlers, "adopt"> {
  const { options, conversation, journals, commands, files, ssh, provide, health } = parts;
  return {
    startRuntime: async () => {
      await conversation.open().catch(() => {}); // The health reports it.
      return health();
    },
    warmUp: async () => {
      await conversation.warmUp();
      return health();
    },
    prompt: async (prompt, { gone }) => (await conversation.prompt(prompt.turnId, prompt)).read(0, gone),
    turnEvents: async ({ turnId, after }, { gone }) => known(await journals.find(turnId)).read(after, gone),
    cancel: async ({ turnId }) => {
      conversation.cancel(turnId);
      return {};
    },
    answerFunction: async ({ turnId, callId, output }) => {
      options.functions.answer(turnId, callId, output);
      return {};
    },
    enterConversation: async ({ conversation: number }) => {
      await conversation.enter(number);
      return {};
    },
    provideSecrets: async (secrets) => {
      await provide(secrets);
      return {};
    },
    quiesce: async ({ endRuntime: orderly }) => {
      if (orderly) await endRuntime(options.context, { inOrder: true });
      await conversation.flushed();
      // The log is in memory, and lost with the machine.
      const [log] = await Promise.all([endOf(options.logFile), options.sync()]);
      return { log };
    },
    activity: async () => ({ busy: await options.busy(conversation.own) }),
    log: async function* ({ tail, follow }, { gone }) {
      for await (const lines of logLines(options.logFile, tail, follow, gone)) yield [{ lines }];
    },
    ...files.handlers(),
    ...agentFolderHandlers(options.context, (task) => conversation.replaced(task)),
    ...portHandlers,
    ...ssh.handlers(),
    exec: (command) => exec(command, options.context),
    ...commandHandlers(commands),
  };
}

/** Applies changes serially, and skips those that change nothing. */
function onceEach(provide: RunnerOptions["provide"]): RunnerOptions["provide"] {
  let provided = "";
  let providing: Promise<void> = Promise.resolve();
  return (secrets) => {
    const text = JSON.stringify(secrets);
    providing = providing
      .catch(() => {})
      .then(async () => {
        if (text === provided) return;
        provided = "";
        await provide(secrets);
        provided = text;
      });
    return providing;
  };
}

/**
 * The server's hello on this connection, after both ends have proved that they know the token. Rejects if the server's
 * proof is wrong or missing. The server sends nothing after its proof until it is welcomed.
 */
async function proved(socket: Socket, token: string): Promise<Hello> {
  const signal = AbortSignal.timeout(helloTimeoutMs);
  const hello = (await readJsonLine(socket, signal)) as Hello;
  const { channel, nonce: serverNonce } = hello;
  if (channel !== "control" && channel !== "uplink" && channel !== "download") throw new Error("no such channel");
  const nonces = { channel, serverNonce, guestNonce: newNonce() };
  const challenge = { nonce: nonces.guestNonce, proof: proofOf(token, { role: "guest", ...nonces }) };
  writeJsonLine(socket, challenge satisfies Challenge);
  const { proof } = (await readJsonLine(socket, signal)) as Proof;
  if (!isProof(proof, token, { role: "server", ...nonces })) throw new Error("wrong token");
  return hello;
}
