import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { challengeHeader, proofHeader } from "../contract/reachability.ts";
import { certify, makeAuthority, makeKeys } from "../egress/authority.ts";
import { type Found, probe } from "./probe.ts";
import { proofOf } from "./proof.ts";
import { judge } from "./reachability.ts";

const secretKey = Buffer.alloc(32, 7).toString("base64");
const yes: Found = { addresses: ["203.0.114.7"], answer: "own", fault: null, distrust: null };
const url = "https://berth.example.com";

describe("the words for a public address", () => {
  test.each<[string, string, Partial<Found>, RegExp, RegExp]>([
    [
      "a good address",
      url,
      {},
      /: yes, because this service answers at https:/,
      /: yes, because .* that browsers trust\./,
    ],
    [
      "localhost",
      "http://localhost:7420",
      { addresses: ["127.0.0.1"] },
      /: no, .*BERTH_PUBLIC_URL/,
      /: yes, .*only on/,
    ],
    [
      "a loopback address",
      "http://127.0.0.1:7420",
      { addresses: ["127.0.0.1"] },
      /: no, .*only to/,
      /: no, .*need HTTPS/,
    ],
    [
      "plain HTTP",
      "http://berth.example.com",
      {},
      /: yes, .*Everybody on the way/,
      /: no, because browsers need HTTPS/,
    ],
    ["a private address", url, { addresses: ["10.0.0.5"] }, /: yes, .*own network or VPN: 10\.0\.0\.5/, /: yes,/],
    ["an address without a name", "https://203.0.114.7", {}, /: yes,/, /: no, because passkeys belong to a name/],
    [
      "an unknown name",
      url,
      { addresses: null, answer: "none" },
      /: no, .*does not resolve/,
      /: no, .*does not resolve/,
    ],
    [
      "a closed port",
      url,
      { answer: "none", fault: "ECONNREFUSED" },
      /: no, .*\(ECONNREFUSED\)/,
      /: no, .*nothing answers/,
    ],
    ["another server", url, { answer: "other" }, /: no, because another server/, /: no, because another server/],
    ["an expired certificate", url, { distrust: "CERT_HAS_EXPIRED" }, /: no, .*expired/, /: no, .*expired/],
    ["a certificate of others", url, { distrust: "ERR_TLS_CERT_ALTNAME_INVALID" }, /: no, .*other names/, /: no,/],
    ["an own authority", url, { distrust: "SELF_SIGNED_CERT_IN_CHAIN" }, /: no, because no public authority/, /: no,/],
    ["another fault", url, { distrust: "CERT_REVOKED" }, /: no, because browsers do not trust.*CERT_REVOKED/, /: no,/],
  ])("%s", (_, at, found, phone, passkeys) => {
    const { phone: forPhone, passkeys: forPasskeys } = judge(at, { ...yes, ...found });
    expect(forPhone.message).toMatch(phone);
    expect(forPasskeys.message).toMatch(passkeys);
    expect([forPhone.ok, forPasskeys.ok]).toEqual([phone, passkeys].map(({ source }) => source.startsWith(": yes")));
  });
});

describe("a probe", () => {
  const proving: RequestListener = ({ headers }, response) => {
    response.setHeader(proofHeader, proofOf(secretKey, String(headers[challengeHeader]))).end("{}");
  };
  /** The port of a server that listens at 127.0.0.1 until the test ends. */
  async function listening(server: Server, cleanup: AsyncDisposableStack): Promise<number> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanup.defer(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  test("recognizes this installation by its proof", async () => {
    await using cleanup = new AsyncDisposableStack();
    const at = `http://127.0.0.1:${await listening(createServer(proving), cleanup)}`;
    expect(await probe(at, secretKey)).toEqual({ ...yes, addresses: ["127.0.0.1"] });
    const other = Buffer.alloc(32, 8).toString("base64");
    expect(await probe(at, other)).toMatchObject({ answer: "other" });
  });

  test("does not follow a redirect", async () => {
    await using cleanup = new AsyncDisposableStack();
    const own = await listening(createServer(proving), cleanup);
    const redirecting = createServer((request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${own}${request.url}` }).end();
    });
    const at = `http://127.0.0.1:${await listening(redirecting, cleanup)}`;
    expect(await probe(at, secretKey)).toMatchObject({ answer: "other" });
  });

  test("reports a closed port and a server that sends no HTTP", async () => {
    await using cleanup = new AsyncDisposableStack();
    const closed = createTcpServer();
    const port = await listening(closed, cleanup);
    closed.close();
    await once(closed, "close");
    expect(await probe(`http://127.0.0.1:${port}`, secretKey)).toMatchObject({ answer: "none", fault: "ECONNREFUSED" });
    const rude = createTcpServer((socket) => socket.end("220 mail\r\n"));
    const at = `http://127.0.0.1:${await listening(rude, cleanup)}`;
    expect(await probe(at, secretKey)).toMatchObject({ answer: "none", fault: expect.stringMatching(/^HPE_/) });
  });

  test("reports a name that does not resolve", async () => {
    expect(await probe("https://nothing.invalid", secretKey)).toMatchObject({ addresses: null, answer: "none" });
  });

  test("judges the certificate by its name and the roots that are trusted", async () => {
    await using cleanup = new AsyncDisposableStack();
    const authority = await makeAuthority("test");
    const { certificate, key } = await certify(authority, { kind: "name", text: "localhost" }, await makeKeys());
    const port = await listening(createSecureServer({ cert: certificate, key }, proving), cleanup);
    const distrusted = { answer: "own", distrust: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" };
    expect(await probe(`https://localhost:${port}`, secretKey)).toMatchObject(distrusted);
    const known = getCACertificates("default");
    cleanup.defer(() => setDefaultCACertificates(known));
    setDefaultCACertificates([authority.certificate]);
    expect(await probe(`https://localhost:${port}`, secretKey)).toMatchObject({ answer: "own", distrust: null });
    const wrongName = { answer: "own", distrust: "ERR_TLS_CERT_ALTNAME_INVALID" };
    expect(await probe(`https://127.0.0.1:${port}`, secretKey)).toMatchObject(wrongName);
  });
});
