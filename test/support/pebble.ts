import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { get } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/core/ports.ts";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";

const lifetimeSeconds = 90 * 86_400;

/** A program whose lines are kept. */
class Lines {
  readonly child: ChildProcess;
  readonly all: string[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(program: string, words: string[], env: Record<string, string> = {}) {
    this.child = spawn(program, words, { env: { PATH: process.env.PATH!, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      createInterface({ input: stream }).on("line", (line) => {
        this.all.push(line);
        for (const watcher of this.#watchers) watcher();
      });
    }
    this.child.once("exit", () => {
      for (const watcher of this.#watchers) watcher();
    });
  }

  async line(pattern: RegExp): Promise<void> {
    while (!this.all.some((line) => pattern.test(line))) {
      if (this.child.exitCode !== null) throw new Error(`it ended:\n${this.all.join("\n")}`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await ended;
  }
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
}

/** Debian's `pebble`: a directory of ACME for tests, with a DNS server that resolves all names to 127.0.0.1. */
export class Pebble implements AsyncDisposable {
  readonly directory: string;
  readonly caFile: string;
  /** Where it connects to for HTTP-01 and TLS-ALPN-01. */
  readonly httpPort: number;
  readonly tlsPort: number;
  readonly #managementPort: number;
  readonly #authority: string;
  readonly #names: Lines;
  #program: Lines;
  readonly #start: () => Promise<Lines>;

  private constructor(parts: {
    ports: { directory: number; management: number; http: number; tls: number };
    caFile: string;
    authority: string;
    names: Lines;
    program: Lines;
    start: () => Promise<Lines>;
  }) {
    this.directory = `https://127.0.0.1:${parts.ports.directory}/dir`;
    this.caFile = parts.caFile;
    this.httpPort = parts.ports.http;
    this.tlsPort = parts.ports.tls;
    this.#managementPort = parts.ports.management;
    this.#authority = parts.authority;
    this.#names = parts.names;
    this.#program = parts.program;
    this.#start = parts.start;
  }

  /** The folder gets its files. `lifetime`: of certificates, in seconds. `badNonces`: how many it rejects, in percent. */
  static async start(folder: string, { lifetime = lifetimeSeconds, badNonces = 0 } = {}): Promise<Pebble> {
    const [directory, management, http, tls, dns, control] = await Promise.all(Array.from({ length: 6 }, freePort));
    const authority = await makeAuthority("test");
    const { certificate, key } = await certify(authority, { kind: "address", text: "127.0.0.1" }, await makeKeys());
    const [caFile, certificateFile, keyFile, configFile] = ["ca.pem", "cert.pem", "key.pem", "pebble.json"].map(
      (name) => join(folder, `pebble-${name}`),
    ) as [string, string, string, string];
    await Promise.all([
      writeFile(caFile, authority.certificate),
      writeFile(certificateFile, certificate),
      writeFile(keyFile, key),
    ]);
    const pebble = {
      listenAddress: `127.0.0.1:${directory}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: certificateFile,
      privateKey: keyFile,
      httpPort: http,
      tlsPort: tls,
      certificateValidityPeriod: lifetime,
    };
    await writeFile(configFile, JSON.stringify({ pebble }));
    const none = ["http01", "https01", "tlsalpn01"].flatMap((name) => [`-${name}`, ""]);
    const addresses = ["-defaultIPv4", "127.0.0.1", "-defaultIPv6", ""];
    const at = ["-dns01", `127.0.0.1:${dns}`, "-management", `127.0.0.1:${control}`];
    const names = new Lines("pebble-challtestsrv", [...none, ...addresses, ...at]);
    await names.line(/Starting challenge servers/);
    const start = async () => {
      const words = ["-config", configFile, "-dnsserver", `127.0.0.1:${dns}`];
      const program = new Lines("pebble", words, {
        PEBBLE_VA_NOSLEEP: "1",
        PEBBLE_AUTHZREUSE: "0",
        PEBBLE_WFE_NONCEREJECT: String(badNonces),
      });
      // It writes this before it listens.
      await program.line(/ACME directory available at/);
      await Promise.all([directory!, management!].map(untilListening));
      return program;
    };
    const ports = { directory: directory!, management: management!, http: http!, tls: tls! };
    return new Pebble({ ports, caFile, authority: authority.certificate, names, program: await start(), start });
  }

  /** The authority that signs the certificates, in PEM. */
  async root(): Promise<string> {
    const path = `https://127.0.0.1:${this.#managementPort}/roots/0`;
    const [response] = await once(get(path, { ca: this.#authority, agent: false }), "response");
    return text(response);
  }

  /** How many requests it got for a path, such as `/order-plz`. */
  requests(path: string): number {
    return this.#program.all.filter((line) => line.includes(`POST ${path} `)).length;
  }

  /** Ends it until `restart`. */
  async stop(): Promise<void> {
    await this.#program.end();
  }

  /** Starts it again. It forgets all accounts. */
  async restart(): Promise<void> {
    await this.#program.end();
    this.#program = await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.end();
    await this.#names.end();
  }
}
