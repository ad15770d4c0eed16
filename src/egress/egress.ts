import { randomUUID } from "node:crypto";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { EgressOutcome, EgressRefusal } from "../contract/egress.ts";
import { authorityText, type Host, parseAuthority } from "../contract/egress-rules.ts";
import { verdictHeader } from "../contract/guest.ts";
import type { OpenDownload } from "../machines/connections.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ConnectionLog, LoggedConnection } from "./connection-log.ts";
import { Downstream } from "./downstream.ts";
import { intercept } from "./interception.ts";
import { type Resolve, resolveHere, resolvePublic } from "./names.ts";
import type { AgentRules, Destination, Policy } from "./policy.ts";
import { type Answer, failed, refused, unknown } from "./refusal.ts";
import { certifiedName, type DestinationSecrets, placeholdersOf, type Secret, secretsFor } from "./secrets.ts";
import { carry, dial, Unconnected } from "./tunnel.ts";
import { Warnings } from "./warnings.ts";

/** Limits on an agent's open tunnels, and on new ones per minute. */
const maximumOpen = 256;
const maximumBegun = 1_200;
const windowMs = 60_000;
/** Concurrent downloads of an agent: each is a process in its machine. Further data goes over the tunnels. */
const maximumDownloads = 16;
const connectTimeoutMs = 10_000;
const idleMs = 10 * 60_000;
/** An agent counts as busy for this long after bytes have moved. */
const movingMs = 60_000;
/** How often open tunnels are checked against the current rules. */
const recheckMs = 10_000;
/** How long tunnels may take to end at shutdown. */
const closeMs = 1_000;
/** The limit of an invalid destination in the log, in characters. */
const maximumAsked = 255;

export interface EgressOptions {
  policy: Policy;
  rulesOf(agentId: string): Promise<AgentRules>;
  /** Supplies the agents' secrets for the hosts that may receive them. */
  secrets: SecretKeeper;
  log: ConnectionLog;
  metrics: Pick<Metrics, "connectionDecided" | "connectionEnded">;
  warn: (message: string, error: unknown) => void;
  /** Replaces DNS in tests. */
  resolve?: Resolve;
}

interface SecretKeeper {
  of(agentId: string): Promise<Secret[]>;
  /** A certificate for the host that the agent's machine trusts, with its private key, in PEM. */
  certificate(agentId: string, host: Host): Promise<{ certificate: string; key: string }>;
}

interface Tunnel {
  destination: Destination;
  address: string;
  /** The placeholders of the secrets that its requests may use. */
  secrets: readonly string[];
  cut: AbortController;
  movedAt: number;
}

/** An agent's tunnels, for its limits. */
interface Traffic {
  open: number;
  tunnels: Set<Tunnel>;
  downloads: number;
  begun: number;
  windowFrom: number;
}

/** One CONNECT of an agent's machine. */
interface Connect {
  agentId: string;
  authority: string;
  stream: ServerHttp2Stream;
  /** The tunnel's name in the machine; null if it can receive no download. */
  name: string | null;
  openDownload: OpenDownload;
}

/** One CONNECT being served. */
interface Request extends Connect {
  traffic: Traffic;
  /** Aborted when the guest has disconnected. */
  gone: AbortSignal;
}

/** Agents' access to the internet: authorizes, forwards and logs each connection that an uplink requests. */
export class Egress {
  readonly #options: EgressOptions;
  readonly #policy: Policy;
  readonly #resolve: Resolve;
  readonly #log: ConnectionLog;
  readonly #warnings: Warnings;
  readonly #traffic = new Map<string, Traffic>();
  readonly #serving = new Set<Promise<void>>();
  readonly #rechecks: NodeJS.Timeout;

  constructor(options: EgressOptions) {
    this.#options = options;
    this.#policy = options.policy;
    this.#resolve = options.resolve ?? resolvePublic;
    this.#log = options.log;
    this.#warnings = new Warnings(options.warn);
    this.#rechecks = setInterval(() => void this.#recheckAll(), recheckMs).unref();
  }

  /** Serves one CONNECT. Never rejects. */
  serve(connect: Connect): Promise<void> {
    const serving = this.#serveToEnd(connect).finally(() => this.#serving.delete(serving));
    this.#serving.add(serving);
    return serving;
  }

  async #serveToEnd(connect: Connect): Promise<void> {
    const { agentId, stream } = connect;
    const gone = new AbortController();
    stream.once("close", () => gone.abort());
    const traffic = this.#trafficOf(agentId);
    traffic.open++;
    try {
      await this.#serve({ ...connect, traffic, gone: gone.signal });
    } catch (error) {
      this.#warnings.write(agentId, "an egress connection failed", error);
      answer(stream, unknown);
    } finally {
      traffic.open--;
    }
  }

  /** Closes the agent's tunnels that are no longer allowed, and those whose secrets no longer are. */
  async recheck(agentId: string): Promise<void> {
    const tunnels = [...(this.#traffic.get(agentId)?.tunnels ?? [])];
    if (tunnels.length === 0) return;
    const rules = await this.#options.rulesOf(agentId);
    const hasSecrets = tunnels.some(({ secrets }) => secrets.length > 0);
    const secrets = hasSecrets ? await this.#options.secrets.of(agentId) : [];
    for (const tunnel of tunnels) {
      const { destination, address } = tunnel;
      const current = placeholdersOf(secretsFor(secrets, destination));
      const hasLost = tunnel.secrets.some((placeholder) => !current.includes(placeholder));
      if (hasLost || (await this.#refusalOf(destination, [address], rules)) !== null) tunnel.cut.abort();
    }
  }

  /** Whether the lists of the agent or of the operator still leave a refused destination open: a person can decide. */
  isUndecided({ host, port }: { host: string; port: number }, rules: AgentRules): boolean {
    const destination = parseAuthority(authorityText({ host: { text: host }, port }));
    if (!destination) return true;
    const refusal = this.#policy.refuseAsked(destination, rules);
    return refusal !== null && refusal !== "denied";
  }

  /** Whether the agent's rules allow every public host. */
  async mayReachAll(agentId: string): Promise<boolean> {
    return this.#policy.allowsAll(await this.#options.rulesOf(agentId));
  }

  /** Whether the agent has sent or received bytes within the last minute. */
  moves(agentId: string): boolean {
    const since = performance.now() - movingMs;
    return [...(this.#traffic.get(agentId)?.tunnels ?? [])].some(({ movedAt }) => movedAt > since);
  }

  /** Logs the ended tunnels. Tunnels end with their uplinks, which the caller has closed. */
  async close(): Promise<void> {
    clearInterval(this.#rechecks);
    await Promise.race([Promise.all(this.#serving), sleep(closeMs, undefined, { ref: false })]);
    await this.#log.flush();
  }

  async #serve(request: Request): Promise<void> {
    const { authority } = request;
    const destination = parseAuthority(authority);
    const decision = await this.#decide(request, destination);
    if ("refusal" in decision) {
      const { refusal } = decision;
      this.#options.metrics.connectionDecided("refused");
      this.#log.refused(
        request.agentId,
        refusal,
        destination?.host.text ?? shortened(authority),
        destination?.port ?? null,
      );
      return answer(request.stream, refused(refusal, shortened(authority)));
    }
    this.#options.metrics.connectionDecided("allowed");
    await this.#connect(request, decision);
  }

  /** Rejects if the rules cannot be read. */
  async #decide(
    { agentId, traffic }: Request,
    destination: Destination | null,
  ): Promise<{ refusal: EgressRefusal } | { destination: Destination; addresses: string[] }> {
    if (isTooMany(traffic)) return { refusal: "too_many" };
    if (!destination) return { refusal: "destination_invalid" };
    const rules = await this.#options.rulesOf(agentId);
    const asked = this.#policy.refuseAsked(destination, rules);
    if (asked) return { refusal: asked };
    const addresses = await this.#addressesOf(destination);
    const found = await this.#policy.refuseAddresses(destination, addresses, rules);
    return found ? { refusal: found } : { destination, addresses };
  }

  /** Connects to one of the addresses, forwards the bytes, and logs the outcome. */
  async #connect(request: Request, target: { destination: Destination; addresses: string[] }): Promise<void> {
    const { stream, gone } = request;
    const { destination, addresses } = target;
    const { host, port } = destination;
    const begun = { startedAt: new Date(), host: host.text, port };
    if (addresses.length === 0) {
      answer(stream, failed("unresolved", host.text));
      return this.#ended(request, begun, "unresolved", null, null);
    }
    try {
      const secrets = secretsFor(await this.#options.secrets.of(request.agentId), destination);
      const socket = await dial(addresses, port, connectTimeoutMs, gone);
      const address = socket.remoteAddress ?? addresses[0]!;
      const held = placeholdersOf(secrets);
      const end = held.length > 0 ? this.#intercepted(request.agentId, destination, secrets, socket) : socket;
      const outcome = await this.#carry(request, { destination, address, secrets: held }, end);
      this.#ended(request, begun, outcome, address, socket);
    } catch (error) {
      if (!(error instanceof Unconnected)) throw error;
      answer(stream, failed(error.outcome, `${host.text}:${port}`));
      this.#ended(request, begun, gone.aborted ? "reset" : error.outcome, addresses[0]!, null);
    }
  }

  #ended(
    { agentId }: Request,
    begun: Pick<LoggedConnection, "startedAt" | "host" | "port">,
    outcome: EgressOutcome,
    address: string | null,
    socket: Socket | null,
  ): void {
    const [bytesSent, bytesReceived] = [socket?.bytesWritten ?? 0, socket?.bytesRead ?? 0];
    this.#options.metrics.connectionEnded(bytesSent, bytesReceived);
    const end = { finishedAt: new Date(), reason: null, outcome, address, bytesSent, bytesReceived, count: 1 };
    this.#log.add({ id: randomUUID(), agentId, ...begun, ...end });
  }

  async #carry(
    { traffic, stream, name, openDownload }: Request,
    target: Pick<Tunnel, "destination" | "address" | "secrets">,
    end: Duplex,
  ): Promise<EgressOutcome> {
    const tunnel: Tunnel = { ...target, cut: new AbortController(), movedAt: performance.now() };
    const moved = () => {
      tunnel.movedAt = performance.now();
    };
    traffic.tunnels.add(tunnel);
    try {
      stream.respond({ ":status": 200 }, { waitForTrailers: name !== null });
      const into = name === null ? stream : new Downstream(stream, name, limited(traffic, openDownload));
      return await carry(stream, end, { idleMs, cut: tunnel.cut.signal, moved, into });
    } finally {
      traffic.tunnels.delete(tunnel);
    }
  }

  #intercepted(agentId: string, destination: Destination, secrets: DestinationSecrets, socket: Socket): Duplex {
    const { secrets: keeper } = this.#options;
    const warn = (message: string, error: unknown) => this.#warnings.write(agentId, message, error);
    const certificate = () => keeper.certificate(agentId, certifiedName(secrets, destination.host));
    return intercept(socket, { agentId, destination, secrets, certificate, warn });
  }

  /** All addresses of a destination; empty if the name has none or DNS does not respond. */
  async #addressesOf({ host, port }: Destination): Promise<string[]> {
    if (host.kind === "address") return [host.text];
    const resolve = this.#policy.isException({ host, port }) ? resolveHere : this.#resolve;
    return resolve(host.text).catch(() => []);
  }

  async #refusalOf(destination: Destination, addresses: string[], rules: AgentRules): Promise<EgressRefusal | null> {
    const asked = this.#policy.refuseAsked(destination, rules);
    return asked ?? (await this.#policy.refuseAddresses(destination, addresses, rules));
  }

  async #recheckAll(): Promise<void> {
    const now = performance.now();
    for (const [agentId, { open, windowFrom, tunnels }] of this.#traffic) {
      if (open === 0 && now - windowFrom > windowMs) this.#traffic.delete(agentId);
      // Tunnels stay open while the rules cannot be read.
      if (tunnels.size > 0) await this.recheck(agentId).catch(() => {});
    }
  }

  #trafficOf(agentId: string): Traffic {
    const known = this.#traffic.get(agentId);
    const traffic = known ?? { open: 0, tunnels: new Set(), downloads: 0, begun: 0, windowFrom: performance.now() };
    this.#traffic.set(agentId, traffic);
    return traffic;
  }
}

/** Counts a new connection. */
function isTooMany(traffic: Traffic): boolean {
  const now = performance.now();
  if (now - traffic.windowFrom > windowMs) Object.assign(traffic, { begun: 0, windowFrom: now });
  traffic.begun++;
  return traffic.open > maximumOpen || traffic.begun > maximumBegun;
}

/** Opens as many downloads as an agent may have at once, and rejects beyond that. */
function limited(traffic: Traffic, openDownload: OpenDownload): OpenDownload {
  return async (download) => {
    if (traffic.downloads >= maximumDownloads) throw new Error("too many downloads");
    traffic.downloads++;
    try {
      const socket = await openDownload(download);
      return socket.once("close", () => traffic.downloads--);
    } catch (error) {
      traffic.downloads--;
      throw error;
    }
  };
}

function answer(stream: ServerHttp2Stream, { status, word, text }: Answer): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond({ ":status": status, "content-type": "text/plain; charset=utf-8", [verdictHeader]: word });
  stream.end(`${text}\n`);
}

/** A requested destination, shortened for display and storage. */
function shortened(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, "?").slice(0, maximumAsked);
}
