import "reflect-metadata";
import type { webcrypto } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import {
  BasicConstraintsExtension,
  Pkcs10CertificateRequest,
  type PublicKey,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { algorithm, type Certified, certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";
import { acmeName } from "./acme-service.ts";

const dayMs = 86_400_000;

/** A directory of ACME that issues a certificate without a validation. Tests make it lie about one thing at a time. */
export class HostileDirectory implements AsyncDisposable {
  /** Responses in place of the honest ones, by path. */
  answers: Record<string, RequestListener> = {};
  /** The next certificates. */
  issued = { name: acmeName, days: 90, isForOtherKey: false };
  /** The paths of the requests so far. */
  readonly asked: string[] = [];
  readonly caFile: string;
  readonly authority: string;
  readonly #server: Server;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #root: X509Certificate;
  #certificate = "";

  private constructor(caFile: string, own: Certified, keys: webcrypto.CryptoKeyPair, signer: X509Certificate) {
    this.caFile = caFile;
    this.authority = signer.toString("pem");
    this.#keys = keys;
    this.#root = signer;
    this.#server = createServer({ cert: own.certificate, key: own.key }, (request, response) => {
      const path = request.url!;
      this.asked.push(path);
      const answer = this.answers[path];
      if (answer) answer(request, response);
      else void this.answer(path, request, response);
    });
  }

  /** The folder gets the authority's file. */
  static async start(folder: string): Promise<HostileDirectory> {
    const root = await makeAuthority("test");
    const own = await certify(root, { kind: "address", text: "127.0.0.1" }, await makeKeys());
    const caFile = join(folder, "hostile-ca.pem");
    await writeFile(caFile, root.certificate);
    const keys = await makeKeys();
    const signer = await X509CertificateGenerator.createSelfSigned({
      name: "CN=hostile",
      keys,
      signingAlgorithm: algorithm,
      extensions: [new BasicConstraintsExtension(true, undefined, true)],
    });
    const directory = new HostileDirectory(caFile, own, keys, signer);
    directory.#server.listen(0, "127.0.0.1");
    await once(directory.#server, "listening");
    return directory;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Responds with JSON. */
  static saying(body: unknown, status = 200, headers: Record<string, string> = {}): RequestListener {
    return (_, response) => {
      response.writeHead(status, { "content-type": "application/json", "replay-nonce": "n", ...headers });
      response.end(JSON.stringify(body));
    };
  }

  /** The honest order, with changes. */
  order(changes: Record<string, unknown> = {}): Record<string, unknown> {
    const { url } = this;
    const urls = { authorizations: [`${url}/authorization`], finalize: `${url}/finalize` };
    return { status: "pending", identifiers: [{ type: "dns", value: acmeName }], ...urls, ...changes };
  }

  /** Responds honestly. */
  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url } = this;
    const say = (body: unknown, status = 200, headers = {}) =>
      HostileDirectory.saying(body, status, headers)(request, response);
    const valid = () => this.order({ status: "valid", certificate: `${url}/certificate` });
    if (path === "/dir") {
      return say({ newNonce: `${url}/nonce`, newAccount: `${url}/account`, newOrder: `${url}/new-order` });
    }
    if (path === "/nonce") return say({});
    if (path === "/account") return say({ status: "valid" }, 201, { location: `${url}/account/1` });
    if (path === "/new-order") return say(this.order(), 201, { location: `${url}/order` });
    if (path === "/authorization") return say({ status: "valid", challenges: [] });
    if (path === "/order") return say(valid());
    if (path === "/finalize") {
      await this.#issue(request);
      return say(valid());
    }
    response.writeHead(200, { "content-type": "application/pem-certificate-chain", "replay-nonce": "n" });
    response.end(this.#certificate);
  }

  async #issue(request: IncomingMessage): Promise<void> {
    const { payload } = (await json(request)) as { payload: string };
    const { csr } = JSON.parse(String(Buffer.from(payload, "base64url"))) as { csr: string };
    const asked = new Pkcs10CertificateRequest(Buffer.from(csr, "base64url"));
    const { name, days, isForOtherKey } = this.issued;
    const publicKey: PublicKey | webcrypto.CryptoKey = isForOtherKey ? this.#keys.publicKey : asked.publicKey;
    const certificate = await X509CertificateGenerator.create({
      subject: "CN=issued",
      issuer: this.#root.subject,
      publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: algorithm,
      notBefore: new Date(Date.now() - 30 * dayMs),
      notAfter: new Date(Date.now() + days * dayMs),
      extensions: [new SubjectAlternativeNameExtension([{ type: "dns", value: name }])],
    });
    this.#certificate = certificate.toString("pem");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}
