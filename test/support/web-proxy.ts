import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The names that the documentation has for the service and for agents' pages. */
export const names = { service: "berth.example.com", pages: "berth-pages.example" };

type Kind = "nginx" | "caddyfile";

/** A proxy of Debian's before the service, with the configuration that docs/operating.md gives. */
export class WebProxy implements AsyncDisposable {
  readonly port: number;
  readonly #program: ChildProcess;

  private constructor(port: number, program: ChildProcess) {
    this.port = port;
    this.#program = program;
  }

  /** `folder` is empty. Of the configuration only ports and paths are others. */
  static async start(kind: Kind, folder: string, { port, backend }: { port: number; backend: number }) {
    await chmod(folder, 0o711);
    await makeCertificate(folder);
    const given = (await documented(kind))
      .replaceAll("/etc/berth/tls", join(folder, "tls"))
      .replaceAll(":7420", `:${backend}`);
    const program = kind === "nginx" ? await startNginx(folder, given, port) : await startCaddy(folder, given, port);
    await untilListening(port, program);
    return new WebProxy(port, program);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#program, "exit");
    if (this.#program.exitCode === null && this.#program.kill("SIGTERM")) await ended;
  }
}

/** The one block of this language in docs/operating.md. */
async function documented(language: Kind): Promise<string> {
  const text = await readFile(new URL("../../docs/operating.md", import.meta.url), "utf8");
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))];
  if (blocks.length !== 1) throw new Error(`docs/operating.md has ${blocks.length} blocks of ${language}`);
  return blocks[0]![1]!;
}

async function makeCertificate(folder: string): Promise<void> {
  const [key, certificate] = [join(folder, "tls.key"), join(folder, "tls.pem")];
  const hosts = `subjectAltName=DNS:${names.service},DNS:*.${names.pages}`;
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await run("openssl", [...words, "-subj", "/CN=berth", "-addext", hosts, "-keyout", key, "-out", certificate]);
}

async function startNginx(folder: string, given: string, port: number): Promise<ChildProcess> {
  const server = given.replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`);
  for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"]) await mkdir(join(folder, name));
  const paths = ["client_body_temp_path body", "proxy_temp_path proxy", "fastcgi_temp_path fastcgi"];
  const others = ["uwsgi_temp_path uwsgi", "scgi_temp_path scgi", "access_log off"];
  // As root, its workers would be a user that cannot enter the folder.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const whole = `${user} worker_processes 1; daemon off; pid ${folder}/pid; error_log stderr warn; events {}
    http { ${[...paths, ...others].map((line) => `${line};`).join(" ")}\n${server}\n}`;
  await writeFile(join(folder, "nginx.conf"), whole);
  return spawn("/usr/sbin/nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"], {
    stdio: "inherit",
  });
}

async function startCaddy(folder: string, given: string, port: number): Promise<ChildProcess> {
  const site = given.replace(
    `${names.service}, *.${names.pages} {`,
    `https://${names.service}:${port}, https://*.${names.pages}:${port} {`,
  );
  const options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n\tskip_install_trust\n}\n";
  await writeFile(join(folder, "Caddyfile"), options + site);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const words = ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  return spawn("/usr/bin/caddy", words, { env, stdio: ["ignore", "ignore", "ignore"] });
}

async function untilListening(port: number, program: ChildProcess): Promise<void> {
  for (;;) {
    if (program.exitCode !== null) throw new Error(`the proxy has ended with ${program.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    const listens = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listens) return;
    await sleep(50);
  }
}
