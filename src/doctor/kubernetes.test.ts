import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { loadAllYaml, type V1ClusterRole } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../test/kubernetes/certificates.ts";
import { doctor } from "../../test/kubernetes/doctor.ts";
import { newFolder } from "../../test/support/config.ts";
import { serverRights } from "../kubernetes/doctor/access.ts";

// `berth doctor --kubernetes` without a reachable cluster. Its report on clusters is tested in test/kubernetes/doctor.test.ts.

let folder: string;
beforeAll(async () => {
  folder = await newFolder();
});
afterAll(() => rm(folder, { recursive: true }));

async function listen<Kind extends Server>(server: Kind): Promise<Kind> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

function kubeconfig(server: Server, protocol: string, trust: object): string {
  const { port } = server.address() as AddressInfo;
  return JSON.stringify({
    clusters: [{ name: "test", cluster: { server: `${protocol}://127.0.0.1:${port}`, ...trust } }],
    users: [{ name: "test", user: { token: "secret" } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
}

/** Writes a kubeconfig file, and returns the setting that names it. */
async function file(text: string): Promise<Record<string, string>> {
  await writeFile(join(folder, "kubeconfig"), text);
  return { KUBECONFIG: join(folder, "kubeconfig") };
}

async function problemWith(environment: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await doctor(environment);
  expect([code, stderr, stdout.match(/✘/g)?.length]).toEqual([1, "", 1]);
  return stdout;
}

test("the rights that it asks for are those of the manifests", async () => {
  const text = await readFile(join(import.meta.dirname, "../../deploy/kubernetes/base/roles.yaml"), "utf8");
  const roles = loadAllYaml(text) as V1ClusterRole[];
  const granted = roles.flatMap(({ kind, rules = [] }) =>
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      resources.map((resource) => ({ group: apiGroups[0], resource, verbs, isNamespaced: kind === "Role" })),
    ),
  );
  expect(granted).toEqual(serverRights);
});

test("a cluster that cannot be asked is one clear line", async () => {
  expect(await problemWith({ KUBECONFIG: "" })).toContain("KUBECONFIG is not set, and this is no pod");
  expect(await problemWith({ KUBECONFIG: join(folder, "none") })).toContain("no such file");
  expect(await problemWith(await file(""))).toContain("KUBECONFIG cannot be read");
  expect(await problemWith(await file("a: [b"))).toContain("KUBECONFIG cannot be read");
  expect(await problemWith(await file("clusters: []"))).toContain("names none");
  const gone = await listen(createServer());
  const lost = await file(kubeconfig(gone, "https", {}));
  gone.close();
  expect(await problemWith(lost)).toContain("nothing listens there");
  expect(await problemWith({ ...lost, BERTH_KUBERNETES_NAMESPACE: "Machines" })).toContain("small letters");
});

test("a proxy in front of the cluster that does not reach it is quoted", async () => {
  await using servers = new AsyncDisposableStack();
  const refusal = JSON.stringify({ kind: "Status", message: "no upstream" });
  const proxy = createServer((_, response) =>
    response.writeHead(502, { "content-type": "application/json" }).end(refusal),
  );
  servers.adopt(await listen(proxy), (server) => void server.close());
  expect(await problemWith(await file(kubeconfig(proxy, "http", { "insecure-skip-tls-verify": true })))).toContain(
    "no upstream",
  );
});

test("reports a server with an expired certificate", async () => {
  const authority = await Authority.create(join(folder, "pki"));
  const { certificate, key } = await authority.certify("api", {
    name: "api",
    addresses: ["127.0.0.1"],
    hasExpired: true,
  });
  await using servers = new AsyncDisposableStack();
  const tls = createTlsServer({ cert: await readFile(certificate), key: await readFile(key) });
  servers.adopt(await listen(tls), (server) => void server.close());
  const trust = { "certificate-authority": authority.files.certificate };
  expect(await problemWith(await file(kubeconfig(tls, "https", trust)))).toContain("its certificate has expired");
});
