import type { Http2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Adoption, Challenge, GuestSecrets, Health, Hello, Proof, Welcome } from "../contract/guest.ts";
import { guestCalls } from "../contract/guest-calls.ts";
import { isProof, newNonce, proofOf } from "../core/channel-proof.ts";
import { readJsonLine, writeJsonLine } from "../core/socket-line.ts";
import { endRuntime } from "../runtimes/process.ts";
import type { Runtime, RuntimeContext } from "../runtimes/runtime.ts";
import { agentFolderHandlers } from "./agent-folders.ts";
import { TurnChanges } from "./changes/turn-changes.ts";
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

/** The machine that a runner runs in. */
interface RunnerMachine {
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
  /** Whether programs other than the runtime's own are busy. Takes a second. */
  busy(own: ReadonlySet<string>): Promise<boolean>;
}

export interface RunnerOptions {
  machine: RunnerMachine;
  runtimes: readonly Runtime[];
  context: RuntimeContext;
  uplink: Uplink;
  downloads: Downloads;
  functions: ClientFunctions;
  /** The log of the runner and the runtime. */
  logFile: string;
}

/** The runner: serves the server's connections and drives the runtime. The caller makes it listen. */
export async function createRunner(options: RunnerOptions): Promise<Server> {
  const journals = new Journals(join(options.context.stateFolder, "turns"));
  await journals.closeInterrupted();
  return new Runner(options, journals).server;
}

class Runner {
  readonly server: Server;
  readonly #options: RunnerOptions;
  readonly #journals: Journals;
  readonly #changes: TurnChanges;
  readonly #conversation: Conversation;
  readonly #commands: Commands;
  readonly #files: GuestFiles;
  readonly #ssh: Ssh;
  readonly #control: Http2Server;
  readonly #sockets = new Set<Socket>();
  #identity: Identity | null = null;
  #token: string;
  /** The provided secrets, as JSON; empty while a change is applied. */
  #provided = "";
  #providing: Promise<void> = Promise.resolve();

  constructor(options: RunnerOptions, journals: Journals) {
    const { runtimes, context, machine, functions, uplink, downloads } = options;
    this.#options = options;
    this.#journals = journals;
    this.#token = machine.firstToken;
    const changes = new TurnChanges(context);
    this.#changes = changes;
    this.#conversation = new Conversation(runtimes, context, journals, machine.sync, functions, uplink, changes);
    this.#commands = new Commands(join(context.stateFolder, "commands"), context);
    this.#files = new GuestFiles(context, downloads);
    this.#ssh = new Ssh(context, () => this.#identity?.machineId ?? "");
    this.#control = serveCalls(guestCalls, this.#handlers(), async (time) => {
      if (time > Date.now() + toleratedMs) await machine.setClock(time);
    });
    if (machine.identity) this.#become(machine.identity);
    this.server = listener(this.#sockets, (socket) => this.#serve(socket)).on("close", () => {
      this.#files.end();
      void this.#changes.stop();
      this.#commands.end();
    });
  }

  async #serve(socket: Socket): Promise<void> {
    const { uplink, downloads } = this.#options;
    const { channel, download } = await proved(socket, this.#token);
    if (channel === "download") await downloads.take(socket, download!);
    writeJsonLine(socket, { ok: true } satisfies Welcome);
    if (channel === "control") this.#control.emit("connection", socket);
    else if (channel === "uplink") uplink.attach(socket);
    else socket.write("", () => socket.destroy()); // Not ended: the process that moves the download shares the socket.
  }

  /** In a clone the runtime already runs; a freshly booted guest starts it now, ahead of the first message. */
  #become(identity: Identity): void {
    this.#identity = identity;
    this.#token = identity.token;
    this.#conversation.choose(identity.runtime, identity.acp ?? null);
    if (!this.#conversation.canStart) return;
    void this.#conversation.open().catch((error: Error) => this.#options.context.log(error.message));
  }

  #health(): Health {
    const { machineId = "", bootId = "" } = this.#identity ?? {};
    return { machineId, bootId, ...this.#conversation.state };
  }

  /** Applies changes serially, and skips those that change nothing. */
  #provide(secrets: GuestSecrets): Promise<void> {
    const text = JSON.stringify(secrets);
    this.#providing = this.#providing
      .catch(() => {})
      .then(async () => {
        if (text === this.#provided) return;
        this.#provided = "";
        await this.#options.machine.provide(secrets);
        this.#provided = text;
      });
    return this.#providing;
  }

  #handlers(): GuestHandlers {
    const { context } = this.#options;
    return {
      ...this.#machineHandlers(),
      ...this.#turnHandlers(),
      ...this.#files.handlers(),
      ...agentFolderHandlers(context, (task) => this.#conversation.replaced(task)),
      ...portHandlers,
      ...this.#ssh.handlers(),
      exec: (command) => exec(command, context),
      ...commandHandlers(this.#commands),
    };
  }

  #machineHandlers() {
    const { machine, context, logFile } = this.#options;
    return {
      adopt: async (adoption, { peerPort }) => {
        // Connections from before a suspension have no peer.
        for (const socket of this.#sockets) if (socket.remotePort !== peerPort) socket.destroy();
        // A snapshot may have been made during a turn, which belongs to another machine.
        this.#conversation.abandon(adoption.turnId);
        const providing = this.#provide(adoption.secrets);
        const [identity] = await Promise.all([machine.adopt(adoption, this.#identity), providing]);
        this.#become(identity);
        return this.#health();
      },
      provideSecrets: async (secrets) => {
        await this.#provide(secrets);
        return {};
      },
      quiesce: async ({ endRuntime: orderly }) => {
        if (orderly) await endRuntime(context, { inOrder: true });
        await this.#conversation.flushed();
        // The log is in memory, and lost with the machine.
        const [log] = await Promise.all([endOf(logFile), machine.sync()]);
        return { log };
      },
      activity: async () => ({ busy: await machine.busy(this.#conversation.own) }),
      log: async function* ({ tail, follow }, { gone }) {
        for await (const lines of logLines(logFile, tail, follow, gone)) yield [{ lines }];
      },
    } satisfies Partial<GuestHandlers>;
  }

  #turnHandlers() {
    const conversation = this.#conversation;
    return {
      startRuntime: async () => {
        await conversation.open().catch(() => {}); // The health reports it.
        return this.#health();
      },
      warmUp: async () => {
        await conversation.warmUp();
        return this.#health();
      },
      prompt: async (prompt, { gone }) => (await conversation.prompt(prompt.turnId, prompt)).read(0, gone),
      turnEvents: async ({ turnId, after }, { gone }) => known(await this.#journals.find(turnId)).read(after, gone),
      turnDiffs: async ({ turnId }) => ({ diffs: this.#changes.diffsOf(turnId) }),
      cancel: async ({ turnId, error }) => {
        conversation.cancel(turnId, error);
        return {};
      },
      answerFunction: async ({ turnId, callId, output }) => {
        this.#options.functions.answer(turnId, callId, output);
        return {};
      },
      setPermissions: async ({ turnId, permissions }) => {
        this.#options.context.approvals.prepare(turnId, permissions);
        return {};
      },
      setOutput: async ({ turnId, schema }) => {
        conversation.expectOutput(turnId, schema);
        return {};
      },
      answerApproval: async ({ turnId, approvalId, decision, message }) => {
        if (!this.#options.context.approvals.answer(turnId, approvalId, { decision, message })) {
          throw new GuestError("approval_not_waiting", "the approval does not wait for an answer");
        }
        if (decision === "deny" && message) {
          // A denial in ACP has no text, so the reason follows as a message for the turn.
          conversation
            .steer(turnId, approvalId, `I denied this: ${message}`)
            .catch((error: Error) => this.#options.context.log(`the reason of a denial is lost: ${error.message}`));
        }
        return {};
      },
      steer: async ({ turnId, id, message }) => ({ reached: await conversation.steer(turnId, id, message) }),
      warn: async ({ turnId, warning }) => {
        conversation.warn(turnId, warning);
        return {};
      },
      // The prompt enters it.
      resumeConversation: async () => ({}),
      enterConversation: async ({ conversation: number }) => {
        await conversation.enter(number);
        return {};
      },
    } satisfies Partial<GuestHandlers>;
  }
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
