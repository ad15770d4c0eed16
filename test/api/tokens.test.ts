import { createHmac, createPublicKey } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { Issuer, newSigningKey } from "../support/issuer.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let issuer: Issuer;
let service: ScriptedService;

beforeAll(async () => {
  issuer = await Issuer.start([await newSigningKey("first")]);
  service = await ScriptedService.start({ oidc: settings(issuer) });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});
beforeEach(() => {
  issuer.seen.length = 0;
});

function settings({ url, audience }: Issuer, unknownKeyMs = 600_000) {
  return { issuer: url, audience, clientId: "berth", unknownKeyMs };
}

const withToken = (token: string) => new TestClient(service.server.url, token);
const listed = async (token: string) => (await withToken(token).call("GET", "/agents")).status;
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

test("a token's subject has an account of its own from its first request on", async () => {
  const robot = withToken(await issuer.token());
  expect((await robot.createAgent("ada")).body.status).toBe("ready");
  expect((await robot.call("GET", "/agents")).body.data).toMatchObject([{ name: "ada" }]);
  const again = withToken(await issuer.token());
  expect((await again.call("GET", "/agents")).body.data).toMatchObject([{ name: "ada" }]);
  const other = withToken(await issuer.sign({ sub: "another" }));
  expect((await other.call("GET", "/agents")).body.data).toEqual([]);
  expect((await service.client.call("GET", "/agents")).body.data).toEqual([]);
  const key = await robot.call("POST", "/keys", {});
  expect((await withToken(key.body.key).call("GET", "/agents")).body.data).toMatchObject([{ name: "ada" }]);
});

test("two first requests at once make one account", async () => {
  const token = await issuer.sign({ sub: "hasty" });
  expect(await Promise.all(Array.from({ length: 8 }, () => listed(token)))).toEqual(Array(8).fill(200));
  const database = await databaseOf(service);
  const rows = await database.selectFrom("people").select("id").where("subject", "=", "hasty").execute();
  await database.destroy();
  expect(rows).toHaveLength(1);
});

test("the tokens and keys of a disabled account are refused at once", async () => {
  const token = await issuer.sign({ sub: "leaver" });
  const { body } = await withToken(token).call("POST", "/keys", {});
  expect(await listed(body.key)).toBe(200);
  const database = await databaseOf(service);
  await database
    .updateTable("accounts")
    .set({ disabled_at: new Date() })
    .where("id", "in", database.selectFrom("people").select("account_id").where("subject", "=", "leaver"))
    .execute();
  await database.destroy();
  expect(await listed(token)).toBe(401);
  expect(await listed(body.key)).toBe(401);
});

test.each([
  ["for another audience", () => issuer.sign({ aud: "https://elsewhere.example" })],
  ["for no audience", () => issuer.sign({ aud: undefined })],
  ["of another issuer", () => issuer.sign({ iss: "https://evil.example" })],
  ["that has expired", () => issuer.sign({ exp: inSeconds(-60) })],
  ["that never expires", () => issuer.sign({ exp: undefined })],
  ["that is not valid yet", () => issuer.sign({ nbf: inSeconds(60) })],
  ["without a subject", () => issuer.sign({ sub: undefined })],
  ["with an empty subject", () => issuer.sign({ sub: "" })],
  ["with a subject that is too long", () => issuer.sign({ sub: "x".repeat(256) })],
  ["with a null character in its subject", () => issuer.sign({ sub: "a\0b" })],
  ["that was tampered with", async () => tampered(await issuer.sign())],
  ["with `alg: none`", async () => forged({ alg: "none" }, () => "")],
  ["with `alg: none` and a signature", async () => forged({ alg: "none" }, () => "AAAA")],
  ["with HS256 and the issuer's public key", async () => signedWithPublicKey()],
  ["of another key with the same id", async () => issuer.sign({}, await newSigningKey("first"))],
  ["of a key that the issuer does not have", async () => issuer.sign({}, await newSigningKey("unknown"))],
  ["that is larger than 8 KiB", () => issuer.sign({ padding: "x".repeat(8_192) })],
  ["that is no token", async () => "a.b.c"],
])("a token %s is refused", async (_case, make) => {
  const token = await make();
  expect(await withToken(token).call("GET", "/agents")).toMatchObject({
    status: 401,
    body: { code: "credentials_invalid" },
  });
});

test("tokens with unknown keys do not make the server ask for keys each time", async () => {
  const unknown = await newSigningKey("guessed");
  for (let n = 0; n < 5; n++)
    await listed(await issuer.sign({}, { ...unknown, jwk: { ...unknown.jwk, kid: `k${n}` } }));
  expect(issuer.seen).toEqual([]);
});

test("keys are rotated: a new one is taken up, and the old one ends with it", async () => {
  const [first, second, third] = await Promise.all(["one", "two", "three"].map((kid) => newSigningKey(kid)));
  await using rotating = await Issuer.start([first!]);
  await using other = await ScriptedService.start({ oidc: settings(rotating, 0) });
  const status = async (token: string) => (await new TestClient(other.server.url, token).call("GET", "/agents")).status;
  const old = await rotating.token();
  expect(await status(old)).toBe(200);
  rotating.rotate([second!, first!]);
  expect(await status(await rotating.token())).toBe(200);
  expect(await status(old)).toBe(200);
  rotating.rotate([third!]);
  expect(await status(await rotating.token())).toBe(200);
  expect(await status(old)).toBe(401);
});

test("without its issuer tokens are refused, keys work, and it is found later", async () => {
  await using down = await Issuer.start([await newSigningKey("first")]);
  const token = await down.token();
  down.fail();
  await using other = await ScriptedService.start({ oidc: settings(down) });
  const client = new TestClient(other.server.url, token);
  const refused = await client.call("GET", "/agents");
  expect(refused).toMatchObject({ status: 503, body: { code: "identity_provider_unavailable" } });
  expect(refused.headers.get("retry-after")).toBe("5");
  expect((await other.client.call("GET", "/agents")).status).toBe(200);
  // A token that cannot be valid is refused without fetching its keys.
  expect((await new TestClient(other.server.url, "eyJh.e30.AAAA").call("GET", "/agents")).status).toBe(401);
  down.rotate([down.key]);
  await expect.poll(async () => (await client.call("GET", "/agents")).status).toBe(200);
});

test("a provider that calls itself otherwise is not taken for the issuer", async () => {
  await using stranger = await Issuer.start([await newSigningKey("first")]);
  const oidc = { ...settings(stranger), issuer: stranger.url.replace("127.0.0.1", "localhost") };
  await using other = await ScriptedService.start({ oidc });
  const answer = await new TestClient(other.server.url, await stranger.token()).call("GET", "/agents");
  expect(answer).toMatchObject({ status: 503, body: { code: "identity_provider_unavailable" } });
});

function tampered(token: string): string {
  const [header, payload, signature] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload!, "base64url").toString());
  return `${header}.${encode({ ...claims, sub: "somebody-else" })}.${signature}`;
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

function forged(header: Record<string, string>, sign: (input: string) => string): string {
  const claims = { iss: issuer.url, aud: issuer.audience, sub: "somebody", exp: inSeconds(600) };
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${sign(input)}`;
}

function signedWithPublicKey(): string {
  const { kty, n, e, kid } = issuer.key.jwk;
  const pem = createPublicKey({ key: { kty, n: n!, e: e! }, format: "jwk" }).export({ type: "spki", format: "pem" });
  return forged({ alg: "HS256", kid: kid! }, (input) => createHmac("sha256", pem).update(input).digest("base64url"));
}
