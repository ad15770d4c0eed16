import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CertificateFolder } from "../../test/support/certificates.ts";
import { folderPrefix } from "../../test/support/config.ts";
import { certify, makeAuthority, makeKeys } from "../egress/authority.ts";
import { checkKeyPair, isFor, namesOf, readKeyPair } from "./certificate.ts";

const run = promisify(execFile);
const made = async () =>
  certify(await makeAuthority("test"), { kind: "name", text: "berth.example" }, await makeKeys());
const otherKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const encryptedKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
    .toString();
const dayMs = 86_400_000;

test("a pair returns its names and expiry", async () => {
  const { leaf, expiresAt } = checkKeyPair(await made());
  expect(namesOf(leaf)).toEqual(["berth.example"]);
  expect(expiresAt.getTime()).toBeGreaterThan(Date.now());
});

test("a certificate is for its names, wildcards and addresses", async () => {
  const leafFor = async (kind: "name" | "address", text: string) =>
    checkKeyPair(await certify(await makeAuthority("test"), { kind, text }, await makeKeys())).leaf;
  const wildcard = await leafFor("name", "*.pages.example");
  expect(["a.pages.example", "pages.example", "a.b.pages.example"].map((host) => isFor(wildcard, host))).toEqual([
    true,
    false,
    false,
  ]);
  const address = await leafFor("address", "2001:db8::1");
  expect(["[2001:db8::1]", "[2001:db8::2]", "berth.example"].map((host) => isFor(address, host))).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([
  ["another's key", { key: otherKey }, /TLS_KEY_FILE: the key does not belong to the first certificate/],
  ["an encrypted key", { key: encryptedKey }, /TLS_KEY_FILE: the key is encrypted/],
  ["no key", { key: () => "" }, /TLS_KEY_FILE: the file contains no private key in PEM/],
  ["no certificate", { certificate: () => "-----BEGIN" }, /TLS_CERT_FILE: the file contains no certificate in PEM/],
])("a pair with %s is rejected", async (_, changed, message) => {
  const pair = await made();
  const changes = Object.fromEntries(Object.entries(changed).map(([name, make]) => [name, make()]));
  expect(() => checkKeyPair({ ...pair, ...changes })).toThrow(message);
});

test.each([
  ["expired", 400, /TLS_CERT_FILE: the certificate expired on \d{4}-\d\d-\d\d/],
  ["not yet valid", -400, /TLS_CERT_FILE: the certificate is valid from/],
])("a certificate that is %s is rejected", async (_, days, message) => {
  const pair = await made();
  expect(() => checkKeyPair(pair, new Date(Date.now() + days * dayMs))).toThrow(message);
});

test("a key that OpenSSL counts as weak is rejected", async () => {
  await using folder = await mkdtempDisposable(folderPrefix);
  const [key, certificate] = [join(folder.path, "key"), join(folder.path, "cert")];
  const words = ["req", "-x509", "-newkey", "rsa:512", "-nodes", "-subj", "/CN=weak"];
  await run("openssl", [...words, "-keyout", key, "-out", certificate]);
  const pair = { certificate: await readFile(certificate, "utf8"), key: await readFile(key, "utf8") };
  expect(() => checkKeyPair(pair)).toThrow(/OpenSSL rejects the certificate: .*key too small/);
});

test("a file that is missing, a folder or too large is named", async () => {
  await using folder = await mkdtempDisposable(folderPrefix);
  const files = new CertificateFolder(folder.path);
  await files.write("berth.example");
  const { certificateFile } = files;
  await expect(readKeyPair({ certificateFile: "/none", keyFile: "/no-key" })).rejects.toThrow(
    /^BERTH_TLS_CERT_FILE: \/none does not exist/,
  );
  await expect(readKeyPair({ certificateFile, keyFile: "/none" })).rejects.toThrow(
    /^BERTH_TLS_KEY_FILE: \/none does not exist/,
  );
  await expect(readKeyPair({ certificateFile, keyFile: folder.path })).rejects.toThrow(/KEY_FILE: .* cannot be read/);
  await writeFile(files.keyFile, Buffer.alloc(1024 * 1024 + 1));
  await expect(readKeyPair(files)).rejects.toThrow(/KEY_FILE: .* is larger than 1 MiB/);
});

test("a file that the server may not read is named", async () => {
  await using folder = await mkdtempDisposable(folderPrefix);
  const files = new CertificateFolder(folder.path);
  await files.write("berth.example");
  await chmod(files.keyFile, 0);
  const isRoot = process.geteuid!() === 0;
  if (isRoot) process.seteuid!(65534);
  const read = readKeyPair(files).finally(() => isRoot && process.seteuid!(0));
  await expect(read).rejects.toThrow(/_FILE: the server's user \(\d+\) may not read/);
});
