import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { makeAuthority } from "./authority.ts";
import { Certificates } from "./certificates.ts";
import { certifiedName } from "./secrets.ts";

const authority = await makeAuthority("ada");
const name = (text: string) => ({ kind: "name", text }) as const;

test("an agent's certificates have one key, and are its authority's", async () => {
  const certificates = new Certificates(async () => authority);
  const [first, again, second] = await Promise.all([
    certificates.of("ada", name("a.example")),
    certificates.of("ada", name("a.example")),
    certificates.of("ada", name("b.example")),
  ]);
  expect(again).toBe(first);
  expect(second.key).toBe(first.key);
  expect((await certificates.of("bob", name("a.example"))).key).not.toBe(first.key);
  const issuer = new X509Certificate(authority.certificate);
  const made = new X509Certificate(second.certificate);
  expect([made.checkHost("b.example"), made.verify(issuer.publicKey)]).toEqual(["b.example", true]);
});

test("an agent that asks for very many hosts is refused, and no other", async () => {
  const certificates = new Certificates(async () => authority);
  const asked = Array.from({ length: 100 }, (_, at) => certificates.of("greedy", name(`${at}.example`)));
  const other = certificates.of("modest", name("a.example"));
  const settled = await Promise.allSettled(asked);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(60);
  expect((await other).certificate).toContain("BEGIN CERTIFICATE");
});

test("one certificate is for all names one label below a secret's rule", async () => {
  const secret = { placeholder: "p", headers: [], value: "v", hosts: ["*.example.com"] };
  const asFor = (text: string) => certifiedName({ tls: [secret], plain: [] }, name(text)).text;
  expect(["a.example.com", "b.example.com", "x.y.example.com", "example.com"].map(asFor)).toEqual([
    "*.example.com",
    "*.example.com",
    "x.y.example.com",
    "example.com",
  ]);
  const certificates = new Certificates(async () => authority);
  const { certificate } = await certificates.of("ada", name("*.example.com"));
  expect(new X509Certificate(certificate).checkHost("random.example.com")).toBe("*.example.com");
});
