import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { clientAddress } from "../core/http/client-address.ts";
import { clientOf } from "../core/http/rate-limits.ts";
import { answerFault } from "../core/http-head.ts";
import { isForeign, isFrame } from "./foreign.ts";
import { forward, type Upgrading } from "./forward.ts";
import {
  foreign,
  type Notice,
  notFound,
  notListening,
  sendNotice,
  shareEnded,
  signInRequired,
  ticketUsed,
  tooManyRequests,
} from "./pages.ts";
import { type PreviewTarget, parseLabel, type Visitor } from "./previews.ts";
import { frameCookie, frameSessionsIn, sessionCookie, sessionsIn } from "./session-cookie.ts";

/** Where visitors come in, on every preview's host. */
const enterPath = "/__berth/enter";
const sharePath = "/__berth/share/";

/** The most requests and connections of one port at once. */
const maximumAtOnce = 256;
/** How long a request may continue after its visitor has lost access. */
const checkMs = 3_000;

/** The path of a one-time link into a preview. */
export function enterLink(ticket: string, path: string): string {
  return `${enterPath}?${new URLSearchParams({ ticket, to: path })}`;
}

/** The path of a share's link. */
export function shareLink(secret: string): string {
  return `${sharePath}${secret}`;
}

/** A request under way. */
interface Open {
  visitor: Visitor;
  agentId: string;
  end: () => void;
}

/**
 * The pages that agents serve, each port at an origin of its own. Requests for their hosts come here and never to the
 * API, so that no page shares an origin with it.
 */
export class PreviewServer {
  readonly #context: AppContext;
  /** By the host's label. */
  readonly #open = new Map<string, Set<Open>>();
  readonly #checks: NodeJS.Timeout;

  constructor(context: AppContext) {
    this.#context = context;
    this.#checks = setInterval(() => this.#check(), checkMs).unref();
  }

  /** Whether a request is for a preview. */
  owns({ headers }: IncomingMessage): boolean {
    return this.#context.previewHosts.labelIn(headers.host) !== null;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    void this.#answer(request, response, null);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => {});
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    response.shouldKeepAlive = false;
    // Nothing else would end it: Node's limits of time are for sockets that it still has.
    response.on("finish", () => (socket as Socket).destroySoon());
    void this.#answer(request, response, { socket, head });
  }

  close(): void {
    clearInterval(this.#checks);
    for (const open of this.#open.values()) for (const { end } of open) end();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, upgrading: Upgrading | null): Promise<void> {
    try {
      await this.#serve(request, response, upgrading);
    } catch (error) {
      this.#refuse(request, response, error instanceof Refusal ? error.notice : this.#noticeOf(error));
      // A response that has started cannot be replaced.
      if (upgrading && !response.writableEnded) upgrading.socket.destroy();
    }
  }

  /** Never throws, whatever has become of the response. */
  #refuse(request: IncomingMessage, response: ServerResponse, notice: Notice): void {
    try {
      sendNotice(request, response, notice, this.#context.previewHosts.framer);
    } catch (error) {
      this.#context.logger.error({ err: error }, "a preview's notice could not be sent");
      response.destroy();
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse, upgrading: Upgrading | null): Promise<void> {
    const target = await this.#target(request);
    const [pathname, query] = request.url!.split("?", 2) as [string, string?];
    if (pathname === enterPath) return this.#enter(request, response, target, new URLSearchParams(query));
    if (pathname.startsWith(sharePath)) return this.#enterByShare(request, response, target, pathname);
    if (isForeign(request) && !this.#isDashboardsFrame(request)) throw new Refusal(foreign);
    const visitor = await this.#visitor(request, target);
    const { previewHosts: hosts, ports, passing } = this.#context;
    const page = { request, response, isUpgrade: upgrading !== null };
    if (await passing?.passPage(target.agent, page, this.#addressOf(request))) return;
    using _ = this.#enterOpen(hosts.labelIn(request.headers.host)!, {
      visitor,
      agentId: target.agent.id,
      end: () => (upgrading?.socket ?? response).destroy(),
    });
    const gone = new AbortController();
    (upgrading?.socket ?? response).once("close", () => gone.abort());
    const connecting = ports.connect(target.agent, visitor, target.port, gone.signal);
    const connection = await this.#connected(connecting, target.port);
    await forward(request, response, connection, hosts, upgrading);
  }

  /**
   * Whether the dashboard navigates its frame. A browser sends the cookie of frames below the site where a ticket set it, also
   * for a frame that another agent's page in the dashboard opens; its referrer is another.
   */
  #isDashboardsFrame(request: IncomingMessage): boolean {
    const { isSecure, framer } = this.#context.previewHosts;
    const { cookie, referer } = request.headers;
    return isFrame(request) && referer === `${framer}/` && frameSessionsIn(cookie, isSecure).length > 0;
  }

  async #target(request: IncomingMessage): Promise<PreviewTarget> {
    const { headersDistinct, headers, url } = request;
    const { previewHosts: hosts, previews } = this.#context;
    if (headersDistinct.host?.length !== 1 || !url?.startsWith("/")) throw new Refusal(badRequest);
    const named = parseLabel(hosts.labelIn(headers.host)!);
    if (!named) throw await this.#inVain(request, notFound);
    const target = await previews.find(named);
    // As for an agent that there is: nobody finds out by asking.
    if (!target) throw await this.#inVain(request, signInRequired(named.port));
    return target;
  }

  async #visitor(request: IncomingMessage, target: PreviewTarget): Promise<Visitor> {
    const { previewHosts: hosts, previews } = this.#context;
    const visitor = await previews.visitor(sessionsIn(request.headers.cookie, hosts.isSecure), target);
    if (visitor === "ended") throw await this.#notAdmitted(request, target, shareEnded);
    if (!visitor) throw await this.#notAdmitted(request, target, signInRequired(target.port));
    return visitor;
  }

  /** For those who may not see its pages, a private agent does not exist. */
  #notAdmitted(request: IncomingMessage, { agent }: PreviewTarget, notice: Notice): Promise<Refusal> {
    return this.#inVain(request, agent.private ? notFound : notice);
  }

  async #enter(request: IncomingMessage, response: ServerResponse, target: PreviewTarget, query: URLSearchParams) {
    const session = await this.#context.previews.enter(query.get("ticket") ?? "", target);
    if (session === null) throw await this.#notAdmitted(request, target, ticketUsed);
    const { isSecure } = this.#context.previewHosts;
    const path = query.get("to") ?? "/";
    // The page that a frame is led to learns the dashboard's address, by which it knows the frame for the dashboard's.
    if (isFrame(request)) welcome(response, frameCookie(session, isSecure), path, "origin");
    else welcome(response, sessionCookie(session, isSecure), path);
  }

  async #enterByShare(request: IncomingMessage, response: ServerResponse, target: PreviewTarget, path: string) {
    const session = await this.#context.previews.enterByShare(path.slice(sharePath.length), target);
    if (session === null) throw await this.#notAdmitted(request, target, shareEnded);
    welcome(response, sessionCookie(session, this.#context.previewHosts.isSecure), "/");
  }

  /** Counts the request until the result is disposed. */
  #enterOpen(label: string, entry: Open): Disposable {
    const open = this.#open.get(label) ?? new Set();
    if (open.size >= maximumAtOnce) throw new Refusal(tooManyRequests);
    this.#open.set(label, open.add(entry));
    return {
      [Symbol.dispose]: () => {
        open.delete(entry);
        if (open.size === 0) this.#open.delete(label);
      },
    };
  }

  async #connected(connecting: Promise<Duplex>, port: number): Promise<Duplex> {
    try {
      return await connecting;
    } catch (error) {
      if (error instanceof BerthError && error.code === "port_not_listening") throw new Refusal(notListening(port));
      throw error;
    }
  }

  /** The refusal of what was asked for in vain, which an address may do only so often. */
  async #inVain(request: IncomingMessage, notice: Notice): Promise<Refusal> {
    const allowance = await this.#context.stores.limiters.address.take(clientOf(this.#addressOf(request)));
    if (!allowance || allowance.allowed) return new Refusal(notice);
    return new Refusal({ ...tooManyRequests, retrySeconds: Math.ceil(allowance.resetMs / 1000) });
  }

  #addressOf(request: IncomingMessage): string {
    const { passing, config } = this.#context;
    return passing?.addressOf(request) ?? clientAddress(request, config.trustedProxies);
  }

  #noticeOf(error: unknown): Notice {
    if (error instanceof BerthError && error.status < 500) {
      return { status: error.status, code: error.code, title: "The page cannot be shown", text: error.message };
    }
    if (!(error instanceof BerthError)) this.#context.logger.debug({ err: error }, "a preview broke off");
    const status = error instanceof BerthError ? error.status : 502;
    const text =
      answerFault(error, "The program's") ??
      "The agent's machine did not answer, or its program broke the connection off.";
    return { status, code: "machine_failed", title: "The page cannot be shown", text, retrySeconds: 5 };
  }

  /** Cuts off those who have lost access. */
  #check(): void {
    for (const open of this.#open.values()) {
      for (const { visitor, agentId, end } of open) {
        // While the database is unavailable, everybody counts as valid.
        void this.#context.previews.isValid(visitor, agentId).then(
          (isValid) => isValid || end(),
          () => {},
        );
      }
    }
  }
}

function welcome(response: ServerResponse, cookie: string, path: string, referrer = "no-referrer"): void {
  response.writeHead(303, {
    location: ownPath(path),
    "set-cookie": cookie,
    "cache-control": "no-store",
    "referrer-policy": referrer,
  });
  response.end();
}

/** A path of the preview's own, for a header. Encodes what no header may carry; `/` for what would lead elsewhere. */
function ownPath(path: string): string {
  const base = "http://preview";
  if (!URL.canParse(path, base)) return "/";
  const { origin, pathname, href } = new URL(path, base);
  return origin === base && !pathname.startsWith("//") ? href.slice(base.length) : "/";
}

const badRequest: Notice = {
  status: 400,
  code: "request_invalid",
  title: "This is no request for a page",
  text: "It has one host, and a path.",
};

/** Ends a request with a notice. */
class Refusal extends Error {
  readonly notice: Notice;

  constructor(notice: Notice) {
    super(notice.title);
    this.notice = notice;
  }
}
