import type { Config } from "./config/config.ts";
import { ping } from "./core/database/database.ts";
import { Streams } from "./core/http/streams.ts";
import { pause } from "./core/retry.ts";
import { fetchPublicDocument } from "./egress/documents.ts";
import { Passing } from "./hosts/passing/passing.ts";
import type { PassageEnd } from "./hosts/passing/relay.ts";
import { checkReadiness, type Readiness } from "./hosts/readiness.ts";
import { ServerSeal } from "./hosts/server-seal.ts";
import { openKubernetes } from "./kubernetes/open.ts";
import type { Machines } from "./machines/machines.ts";
import { type OpenDriver, openQemu } from "./machines/qemu/open.ts";
import { runtimes as allRuntimes } from "./runtimes/all.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import type { FetchDocument } from "./sign-in/client-documents.ts";
import { openFoundation } from "./wiring/foundation.ts";
import { openHttp } from "./wiring/http.ts";
import { openLeading } from "./wiring/leading.ts";

const databaseTimeoutMs = 3_000;
/** How long requests that are under way may take before another server leads. */
const settleMs = 1_500;
/** In which all others have seen that this server leads no more. */
const newsMs = 500;
const never = new Promise<void>(() => {});

/** What a server is made with in place of its own, in tests. */
export interface ServerParts {
  openDriver?: OpenDriver;
  runtimes?: readonly Runtime[];
  /** Gets the documents by which programs describe themselves. */
  fetchDocument?: FetchDocument;
}

export interface Server extends AsyncDisposable {
  /** Where it listens, `http://HOST:PORT`. */
  readonly url: string;
  /** The one-time link for the operator's own user; null where that user exists, or another provider has the users. */
  readonly firstSignIn: string | null;
  readonly machines: Machines;
  /** Resolves when another server has taken over what this one led: its process has to end. */
  readonly deposed: Promise<void>;
  readiness(): Promise<Readiness>;
  /** The parts that are stopping, once it is being disposed. */
  stopping(): string[];
}

/**
 * Starts a whole server: the database, the machines that run, the turns that go on, the HTTP interface; where another
 * one leads the data folder's machines, it stands by. Rejects when the data folder, the database or the address cannot be
 * had. A missing image or QEMU is told by `readiness`, and taken up once it is there. Disposing it leaves the machines and
 * their turns running.
 */
export async function createServer(
  config: Config,
  {
    openDriver = config.kubernetes ? openKubernetes : openQemu,
    runtimes = allRuntimes,
    fetchDocument = fetchPublicDocument,
  }: ServerParts = {},
): Promise<Server> {
  await using cleanup = new AsyncDisposableStack();
  const foundation = await openFoundation(config, fetchDocument, cleanup);
  const { sharing, isShared, host, leases, log, stops, database, stores, metrics, address, signIn, secretKey } =
    foundation;
  const leading = cleanup.use(new AsyncDisposableStack());
  const confirm = async () => leadership?.confirm();
  const epoch = () => leadership?.term?.epoch ?? 0;
  const leader = await openLeading(foundation, { openDriver, runtimes, confirm, epoch }, leading);
  const { machines, service, prepare, begin, running } = leader;
  const lead = async () => {
    await prepare();
    begin();
    metrics.tookOver();
  };
  const leadership = isShared ? sharing.openLeadership({ host, leases, lead, log }) : null;
  if (!leadership) await prepare();
  const leads = () => leadership?.leads ?? true;

  // The others need no machines: they pass on what does.
  const requireDriver = async () => (leads() ? machines.driver() : null);
  const readiness = () => checkReadiness(() => ping(database, databaseTimeoutMs), requireDriver);
  const { maximumStreams, maximumAccountStreams } = config;
  const streams = new Streams(maximumStreams, maximumAccountStreams, (caller) => service.principals.isValid(caller));
  const passedOn = (end: PassageEnd) => metrics.requestPassedOn(end);
  const passing = leadership && new Passing(leadership, new ServerSeal(secretKey), passedOn);
  metrics.watch({
    agents: () => stores.agents.countByStatus(),
    capacity: () => service.lifecycle.capacity(),
    leads,
    turns: running,
    streams,
    database: foundation.connections,
  });
  const app = await openHttp({ ...foundation, ...leader, readiness, streams, passing });
  cleanup.defer(stops.of("requests", () => app.close()));
  const url = await app.listen({ host: config.host, port: config.port });
  address.listensAt(url);
  const firstSignIn = signIn && (await signIn.open(address.public));
  if (leadership) await leadership.begin(config.internalUrl ?? url);
  else begin();

  const stack = cleanup.move();
  const end = async () => {
    if (leadership && passing) {
      const led = leadership.leads;
      await leadership.end(async () => {
        await passing.settled(settleMs);
        await leading.disposeAsync();
      });
      streams.cutAll();
      // What the others send here still, they are told to send elsewhere: a connection that is cut could mean anything.
      if (led) await pause(newsMs);
    }
    await stack.disposeAsync();
  };
  const deposed = leadership?.deposed ?? never;
  const stopping = () => stops.underWay;
  return { url, firstSignIn, machines, readiness, stopping, deposed, [Symbol.asyncDispose]: end };
}
