import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "./env.ts";
import { ConfigError } from "./variables.ts";

test("an empty environment has all defaults", () => {
  expect(readConfig({})).toMatchObject({
    host: "127.0.0.1",
    port: 7420,
    databaseUrl: null,
    acceleration: { choice: "auto", probeMs: 30_000 },
    anthropic: null,
  });
  expect(readConfig({ BERTH_PORT: "", ANTHROPIC_API_KEY: "" })).toEqual(readConfig({}));
});

test("a key makes Anthropic the provider, at its own address or another", () => {
  expect(readConfig({ ANTHROPIC_API_KEY: "k" }).anthropic).toEqual({
    baseUrl: "https://api.anthropic.com",
    apiKey: "k",
  });
  const other = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:9/" };
  expect(readConfig(other).anthropic).toEqual({ baseUrl: "http://127.0.0.1:9", apiKey: "k" });
  const google = { baseUrl: "https://generativelanguage.googleapis.com/v1beta", apiKey: "k" };
  expect(readConfig({ GEMINI_API_KEY: "k" })).toMatchObject({ google, anthropic: null });
});

test("BERTH_RUNTIMES names the runtimes of new agents, their default first", () => {
  expect(readConfig({}).runtimes).toEqual(["claude-code", "opencode", "codex"]);
  expect(readConfig({ BERTH_RUNTIMES: "openclaw, codex,openclaw" }).runtimes).toEqual(["openclaw", "codex"]);
  const wrong = (value: string) => () => readConfig({ BERTH_RUNTIMES: value });
  expect(wrong("claude")).toThrow(
    /BERTH_RUNTIMES: .*There is no runtime claude\. .*allowed: claude-code, opencode, codex/,
  );
  expect(wrong("codex,")).toThrow(/BERTH_RUNTIMES: .*A name is empty\./);
});

test("an issuer is kept as it is written, with its slash or without", () => {
  const issuer = "https://login.example/";
  expect(readConfig({ BERTH_OIDC_ISSUER: issuer, BERTH_OIDC_AUDIENCE: "berth" }).oidc).toMatchObject({
    issuer,
    audience: "berth",
    clientId: "berth",
  });
  expect(readConfig({}).oidc).toBeNull();
  expect(readConfig({ BERTH_PUBLIC_URL: "https://berth.example/" }).publicUrl).toBe("https://berth.example");
});

test("the address for other servers has no path, and its slash is dropped", () => {
  expect(readConfig({}).internalUrl).toBeNull();
  expect(readConfig({ BERTH_INTERNAL_URL: "http://10.0.0.5:7420/" }).internalUrl).toBe("http://10.0.0.5:7420");
});

test.each([
  [{}, "http://localhost:7420"],
  [{ BERTH_HOST: "::1", BERTH_PORT: "7500" }, "http://localhost:7500"],
  [{ BERTH_PORT: "0" }, null],
  [{ BERTH_HOST: "0.0.0.0" }, null],
  [{ BERTH_PUBLIC_URL: "http://127.0.0.1:7420" }, "http://127.0.0.1:7420"],
])("%j has the public address %s", (environment, publicUrl) => {
  expect(readConfig(environment).publicUrl).toBe(publicUrl);
});

test("HTTPS has a certificate, its key, a port and a public address", () => {
  const files = { BERTH_TLS_CERT_FILE: "/etc/berth/tls.pem", BERTH_TLS_KEY_FILE: "/etc/berth/tls.key" };
  expect(readConfig({}).https).toBeNull();
  expect(readConfig({ ...files, BERTH_PUBLIC_URL: "https://berth.example:7443" }).https).toEqual({
    files: { certificateFile: files.BERTH_TLS_CERT_FILE, keyFile: files.BERTH_TLS_KEY_FILE },
    acme: null,
    host: null,
    port: 7443,
    redirect: null,
    hstsSeconds: 0,
  });
  expect(() => readConfig(files)).toThrow(/BERTH_PUBLIC_URL: with BERTH_TLS_CERT_FILE, set it to the address/);
  expect(() => readConfig({ ...files, BERTH_PUBLIC_URL: "http://berth.example" })).toThrow(/such as https:/);
});

test.each([
  [{ BERTH_TLS_CERT_FILE: "/tls.pem" }, /BERTH_TLS_CERT_FILE and BERTH_TLS_KEY_FILE: set both, or neither/],
  [{ BERTH_TLS_PORT: "70000" }, /BERTH_TLS_PORT: "70000" is not allowed/],
  [{ BERTH_INTERNAL_URL: "http://10.0.0.5/berth" }, /BERTH_INTERNAL_URL: its value is not allowed. It has no path/],
  [{ BERTH_PORT: "http" }, /BERTH_PORT: "http" is not allowed. Must be a number\.$/],
  [{ BERTH_PORT: "65536" }, /BERTH_PORT: "65536" is not allowed. Must be at most 65535\.$/],
  [{ BERTH_KUBERNETES_IMAGE: "berth/machine:1" }, /BERTH_DATABASE_URL and BERTH_SECRET_KEY must be set/],
  [{ BERTH_KUBERNETES_NAMESPACE: "Berth" }, /BERTH_KUBERNETES_NAMESPACE.*small letters/],
  [{ BERTH_KUBERNETES_KVM: "kvm" }, /BERTH_KUBERNETES_KVM.*such as devices.kubevirt.io.kvm/],
  [{ BERTH_ACCEL: "hvf" }, /BERTH_ACCEL: "hvf" is not allowed. Must be one of: auto, kvm, tcg\.$/],
  [{ BERTH_LOG_FORMAT: "xml" }, /BERTH_LOG_FORMAT/],
  [{ BERTH_LOG_LEVEL: "loud" }, /BERTH_LOG_LEVEL/],
  [{ BERTH_STALL_SECONDS: "0" }, /BERTH_STALL_SECONDS/],
  [{ BERTH_RATE_LIMIT: "-1" }, /BERTH_RATE_LIMIT/],
  [{ BERTH_CORS_ORIGINS: "https://a.example,b.example" }, /BERTH_CORS_ORIGINS.*https:\/\/example\.com/],
  [{ BERTH_TRUSTED_PROXIES: "10.0.0.0/8, proxy" }, /BERTH_TRUSTED_PROXIES.*10\.0\.0\.0\/8/],
  [{ BERTH_AUDIT_DAYS: "0" }, /BERTH_AUDIT_DAYS/],
  [{ BERTH_NETWORK_LOG_DAYS: "0" }, /BERTH_NETWORK_LOG_DAYS/],
  [{ BERTH_WEB_ALLOW: "*.example.com,127.1" }, /BERTH_WEB_ALLOW.*A rule is a host \(example\.com\)/],
  [{ BERTH_WEB_DENY: "http://example.com" }, /BERTH_WEB_DENY.*A rule is/],
  [{ BERTH_WEB_INSIDE: "mirror.corp" }, /BERTH_WEB_INSIDE.*HOST:PORT/],
  [{ BERTH_WEB_INSIDE: "*:443" }, /BERTH_WEB_INSIDE.*HOST:PORT/],
  [{ BERTH_WEBHOOKS_INSIDE: "http://hooks.corp" }, /BERTH_WEBHOOKS_INSIDE.*HOST:PORT/],
  [{ BERTH_SMTP_URL: "mail.example" }, /BERTH_SMTP_URL: its value is not allowed.*smtps:/],
  [{ BERTH_SMTP_URL: "smtp://mail.example?tls=none" }, /BERTH_SMTP_URL.*tls=off/],
  [{ BERTH_SMTP_URL: "smtp://a:50%@mail.example" }, /BERTH_SMTP_URL: its value is not allowed/],
  [{ BERTH_SMTP_URL: "smtp://mail.example" }, /BERTH_MAIL_FROM: with BERTH_SMTP_URL it is needed/],
  [{ BERTH_MAIL_FROM: "berth@example.com" }, /BERTH_SMTP_URL is not set/],
  [{ BERTH_MAIL_FROM: "Berth" }, /BERTH_MAIL_FROM.*NAME <ADDRESS>/],
  [{ BERTH_MAIL_FROM: "Berth\r\nBcc: a@example.com <berth@example.com>" }, /BERTH_MAIL_FROM/],
  [
    { BERTH_SMTP_URL: "smtp://a:b@mail.example?tls=off", BERTH_MAIL_FROM: "berth@example.com" },
    /BERTH_SMTP_URL: tls=off is for smtp:\/\/ without a user/,
  ],
  [{ BERTH_MAX_WEBHOOKS_PER_ACCOUNT: "-1" }, /BERTH_MAX_WEBHOOKS_PER_ACCOUNT/],
  [{ BERTH_SECRET_KEY: "c2hvcnQ=" }, /BERTH_SECRET_KEY: its value is not allowed. 32 bytes in base64/],
  [{ BERTH_OIDC_ISSUER: "login.example" }, /BERTH_OIDC_ISSUER/],
  [{ BERTH_OIDC_ISSUER: "https://login.example" }, /BERTH_OIDC_AUDIENCE.*needed/],
  [{ BERTH_OIDC_AUDIENCE: "berth" }, /BERTH_OIDC_ISSUER is not set/],
  [{ BERTH_PUBLIC_URL: "ftp://x" }, /BERTH_PUBLIC_URL: its value is not allowed. Must be a URL that begins with http/],
  [{ ANTHROPIC_BASE_URL: "ftp://x" }, /ANTHROPIC_BASE_URL: its value is not allowed/],
])("%j stops the start with its name and what is allowed", (environment, complaint) => {
  expect(() => readConfig(environment)).toThrow(ConfigError);
  expect(() => readConfig(environment)).toThrow(complaint);
});

test("traces are on where OpenTelemetry's variables say where they go, and are not switched off by others", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/" };
  expect(readConfig({}).traces).toBeNull();
  expect(readConfig(endpoint).traces).toEqual({ url: "http://127.0.0.1:4318/v1/traces", ratio: 1 });
  const whole = { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://collector.example/here/" };
  expect(readConfig(whole).traces?.url).toBe("https://collector.example/here/");
  expect(readConfig({ ...endpoint, OTEL_SDK_DISABLED: "true" }).traces).toBeNull();
  expect(readConfig({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }).traces).toBeNull();
  const sampled = (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG = "0.1") =>
    readConfig({ ...endpoint, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }).traces?.ratio;
  expect(["always_on", "parentbased_always_off", "traceidratio"].map((name) => sampled(name))).toEqual([1, 0, 0.1]);
  expect(() => sampled("jaeger_remote")).toThrow(/OTEL_TRACES_SAMPLER/);
});

test("a collector's key is in no backup's settings, and a bad address is not repeated", () => {
  const { settings } = readConfig({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=hunter2", BERTH_SERVER_NAME: "one" });
  expect(settings).toEqual({ BERTH_SERVER_NAME: "one" });
  const bad = { OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://berth:hunter2@collector" };
  expect(() => readConfig(bad)).toThrow(/OTEL_EXPORTER_OTLP_ENDPOINT/);
  expect(() => readConfig(bad)).not.toThrow(/hunter2/);
});

test("the memory of one machine bounds its agents' and makes spares, and says nothing of a cluster's", () => {
  const alone = readConfig({ BERTH_MEMORY_MIB: "16384" });
  expect([alone.memoryMiB, alone.spares]).toEqual([16_384, 2]);
  const set = {
    BERTH_KUBERNETES_IMAGE: "berth/machine:1",
    BERTH_DATABASE_URL: "postgres://berth@db/berth",
    BERTH_SECRET_KEY: Buffer.alloc(32).toString("base64"),
    BERTH_MAX_AGENTS: "10",
  };
  const cluster = readConfig(set);
  expect([cluster.memoryMiB, cluster.spares]).toEqual([655_360, 0]);
  const chosen = readConfig({ ...set, BERTH_MEMORY_MIB: "16384", BERTH_SPARES: "1" });
  expect([chosen.memoryMiB, chosen.spares]).toEqual([16_384, 1]);
});

test("a complaint never repeats a password", () => {
  const environment = { BERTH_DATABASE_URL: "mysql://berth:hunter2@db/berth", BERTH_PORT: "x" };
  expect(() => readConfig(environment)).toThrow(/BERTH_DATABASE_URL/);
  expect(() => readConfig(environment)).not.toThrow(/hunter2/);
});

test.each([
  [
    "smtps://a%40b:p%25@mail.example",
    { port: 465, isSecure: true, auth: { user: "a@b", pass: "p%" }, tls: "required" },
  ],
  ["smtp://mail.example:2525", { host: "mail.example", port: 2525, isSecure: false, auth: null, tls: "required" }],
  ["smtp://relay.corp?tls=off", { port: 587, tls: "off" }],
  ["smtp://[::1]", { host: "::1", tls: "offered" }],
])("%s is a mail server", (url, mail) => {
  const set = readConfig({ BERTH_SMTP_URL: url, BERTH_MAIL_FROM: "Berth <berth@example.com>" });
  expect(set.mail).toMatchObject({ ...mail, from: { name: "Berth", address: "berth@example.com" } });
  expect(JSON.stringify(set.settings)).not.toContain(url);
});

test("the rules of the web are taken in their normal spelling", () => {
  const set = readConfig({
    BERTH_WEB_DENY: "*.EXAMPLE.com.:80, 2001:DB8::/32",
    BERTH_WEB_INSIDE: "Mirror.corp:443,[FD12:0::1]:80",
    BERTH_WEBHOOKS_INSIDE: "Hooks.corp:8080",
    BERTH_PROVIDERS_INSIDE: "models.corp:8000",
    BERTH_SKILLS_INSIDE: "git.corp:80",
  });
  expect(set.egress).toEqual({ allow: ["*"], deny: ["*.example.com:80", "[2001:db8::/32]"] });
  expect(set.egressInside).toEqual(["mirror.corp:443", "[fd12::1]:80"]);
  expect(set.webhooksInside).toEqual(["hooks.corp:8080"]);
  expect(set.providersInside).toEqual(["models.corp:8000"]);
  expect(set.skillsInside).toEqual(["git.corp:80"]);
});

test("a key may be given as a file, and what is wrong with the file is said", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-env-"));
  const file = join(folder.path, "key");
  await writeFile(file, "sk-from-a-file\n");
  expect(readConfig({ ANTHROPIC_API_KEY_FILE: file }).anthropic?.apiKey).toBe("sk-from-a-file");
  const url = "postgresql://berth@db/berth";
  await writeFile(file, ` ${url} \n`);
  expect(readConfig({ BERTH_DATABASE_URL_FILE: file }).databaseUrl).toBe(url);
  expect(() => readConfig({ OPENAI_API_KEY_FILE: file, OPENAI_API_KEY: "k" })).toThrow(/OPENAI_API_KEY is set too/);
  expect(() => readConfig({ OPENAI_API_KEY_FILE: join(folder.path, "none") })).toThrow(/OPENAI_API_KEY_FILE: ENOENT/);
  await writeFile(file, "\n");
  expect(() => readConfig({ BERTH_SECRET_KEY_FILE: file })).toThrow(/is empty/);
});
