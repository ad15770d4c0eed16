import { openApp } from "./app.ts";
import type { Config } from "./config/config.ts";
import { previewWarnings } from "./config/preview-domain.ts";
import { AppContext } from "./context.ts";
import { pause } from "./core/retry.ts";
import type { Overrides } from "./foundation.ts";
import type { Readiness } from "./hosts/readiness.ts";
import type { Machines } from "./machines/machines.ts";

/** How long requests that are under way may take before another server leads. */
const settleMs = 1_500;
/** In which all others have seen that this server leads no more. */
const newsMs = 500;
const never = new Promise<void>(() => {});

export interface Server extends AsyncDisposable {
  /** Where it listens, `http://HOST:PORT`. */
  readonly url: string;
  /** Where it speaks HTTPS, `https://HOST:PORT`; null without a certificate. */
  readonly secureUrl: string | null;
  /** The one-time link for the operator's own user; null where that user exists, or another provider has the users. */
  readonly firstSignIn: string | null;
  readonly machines: Machines;
  /** Resolves when another server has taken over what this one led: its process has to end. */
  readonly deposed: Promise<void>;
  readiness(): Promise<Readiness>;
  /** Looks for a newer TLS certificate; null without HTTPS. */
  readonly reloadCertificate: (() => Promise<void>) | null;
  /** The parts that are stopping, once it is being disposed. */
  stopping(): string[];
}

/**
 * Starts a complete server: the database, the running machines and turns, the HTTP interface; if another one leads the
 * data folder's machines, it stands by. Rejects if the data folder, the database or the address cannot be used. A
 * missing image or QEMU is reported by `readiness`, and used once it is available. Disposing it leaves the machines and
 * their turns running.
 */
export async function createServer(config: Config, overrides: Overrides = {}): Promise<Server> {
  await using cleanup = new AsyncDisposableStack();
  const context = await AppContext.open(config, overrides, cleanup);
  const { leadership, stops, signIn, address, machines, logger, requests, certificates } = context;
  if (!leadership) await context.prepareToLead();
  context.metrics.watch(context);
  for (const warning of previewWarnings(config)) logger.warn(warning);
  const app = await openApp(context);
  cleanup.defer(stops.of("requests", () => app.close().then(() => requests.settled())));
  const secureUrl = await openHttps(context, cleanup);
  const url = await app.listen({ host: config.host, port: config.port });
  address.listensAt(url);
  const firstSignIn = signIn && (await signIn.open(address.public));
  if (leadership) await leadership.begin(config.internalUrl ?? url);
  else context.beginToLead();

  const stack = cleanup.move();
  return {
    url,
    secureUrl,
    firstSignIn,
    machines,
    deposed: leadership?.deposed ?? never,
    readiness: () => context.readiness(),
    reloadCertificate: certificates && (() => certificates.reload()),
    stopping: () => stops.underWay,
    [Symbol.asyncDispose]: async () => {
      await handOver(context);
      await stack.disposeAsync();
    },
  };
}

/** Listens for HTTPS, and redirects plain HTTP to it. Returns the address; null without HTTPS. */
async function openHttps(context: AppContext, cleanup: AsyncDisposableStack): Promise<string | null> {
  const { secure, certificates, redirect, stops, address } = context;
  if (!secure || !certificates) return null;
  cleanup.defer(stops.of("certificates", () => certificates.close()));
  await certificates.load();
  const url = await secure.open();
  address.listensSecurelyAt(url);
  if (redirect) {
    cleanup.defer(stops.of("redirects", () => redirect.close()));
    await redirect.open();
  }
  certificates.start();
  return url;
}

/** Gives the leadership back, so that another server takes over without a gap. */
async function handOver(context: AppContext): Promise<void> {
  const { leadership, passing, streams } = context;
  if (!leadership || !passing) return;
  const led = leadership.leads;
  await leadership.end(async () => {
    await passing.settled(settleMs);
    await context.endLeading();
  });
  streams.cutAll();
  // Requests that the others still send here are answered with where to send them: a cut connection could mean anything.
  if (led) await pause(newsMs);
}
