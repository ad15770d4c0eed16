import { createHmac } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import type { Verification } from "../contract/automation-hooks.ts";
import { hookSecret } from "./hook-secret.ts";
import { refusalOf } from "./verify-delivery.ts";

const now = new Date("2030-01-31T12:00:00Z");
const seconds = now.getTime() / 1000;
const body = Buffer.from('{"a": "ü"}');
const raw = Buffer.from([0xff, 0x00, 0xfe]);

/** The headers of a sender, as its documentation says. */
const sign: Record<Verification, (secret: string, bytes: Buffer, time?: number) => Record<string, string>> = {
  "standard-webhooks": (secret, bytes, time = seconds) => {
    const signature = new Webhook(secret).sign("msg_1", new Date(time * 1000), bytes);
    return { "webhook-id": "msg_1", "webhook-timestamp": String(time), "webhook-signature": signature };
  },
  github: (secret, bytes) => ({
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`,
  }),
  gitlab: (secret) => ({ "x-gitlab-token": secret }),
  slack: (secret, bytes, time = seconds) => {
    const signature = createHmac("sha256", secret).update(`v0:${time}:`).update(bytes).digest("hex");
    return { "x-slack-request-timestamp": String(time), "x-slack-signature": `v0=${signature}` };
  },
  bearer: (secret) => ({ authorization: `Bearer ${secret}` }),
};
const all = Object.keys(sign) as Verification[];
const timed: Verification[] = ["standard-webhooks", "slack"];

const secretOf = (verify: Verification) => hookSecret(verify, verify === "slack" ? "0123456789abcdef0123" : undefined);
const refusal = (verify: Verification, headers: Record<string, string>, secrets: string[], bytes = body) =>
  refusalOf(verify, { headers, body: bytes, now }, secrets);

describe.each(all)("%s", (verify) => {
  const secret = secretOf(verify);
  const other = verify === "slack" ? "another secret of slack" : secretOf(verify);

  test("accepts the secret of a delivery, also the one before", () => {
    expect(refusal(verify, sign[verify](secret, body), [secret])).toBeNull();
    expect(refusal(verify, sign[verify](secret, body), [other, secret])).toBeNull();
  });

  test("refuses another secret, and every delivery without one", () => {
    expect(refusal(verify, sign[verify](other, body), [secret])).toEqual(expect.any(String));
    expect(refusal(verify, sign[verify](secret, body), [])).toEqual(expect.any(String));
    expect(refusal(verify, {}, [secret])).toMatch(/required/);
  });

  test("refuses headers that were left out, changed or made up", () => {
    const right = sign[verify](secret, body);
    for (const [name, value] of Object.entries(right)) {
      const { [name]: _, ...others } = right;
      expect(refusal(verify, others, [secret])).toEqual(expect.any(String));
      for (const wrong of [
        "",
        " ",
        value.slice(1),
        value.slice(0, -1),
        `${value}x`,
        `x${value}`,
        "\u00ff",
        "sha256=",
        "v1,",
        "v0=",
        "Bearer",
      ]) {
        expect([wrong, refusal(verify, { ...right, [name]: wrong }, [secret])]).toEqual([wrong, expect.any(String)]);
      }
    }
    const texts = fc.string({ unit: "binary", maxLength: 200 });
    const given = fc.record(Object.fromEntries(Object.keys(right).map((name) => [name, texts])));
    fc.assert(fc.property(given, (headers) => refusal(verify, headers, [secret]) !== null));
  });
});

test.each(["github", "slack"] as const)("%s signs the bytes that were sent, also those that are no text", (verify) => {
  const secret = secretOf(verify);
  expect(refusal(verify, sign[verify](secret, raw), [secret], raw)).toBeNull();
  const other = Buffer.from(raw.toString("utf8"));
  expect(refusal(verify, sign[verify](secret, raw), [secret], other)).toMatch(/no signature/);
});

test.each(timed)("%s refuses a time that is old, ahead or malformed", (verify) => {
  const secret = secretOf(verify);
  for (const late of [-300, 0, 300]) {
    expect(refusal(verify, sign[verify](secret, body, seconds + late), [secret])).toBeNull();
  }
  for (const late of [-301, 301, 1e6]) {
    expect(refusal(verify, sign[verify](secret, body, seconds + late), [secret])).toMatch(/5 minutes/);
  }
  const name = verify === "slack" ? "x-slack-request-timestamp" : "webhook-timestamp";
  for (const wrong of ["NaN", "-1", "1e9", `${seconds}.5`, "0x10", "9".repeat(13), now.toISOString(), `${seconds} `]) {
    const headers = { ...sign[verify](secret, body), [name]: wrong };
    expect([wrong, refusal(verify, headers, [secret])]).toEqual([wrong, expect.stringMatching(/seconds/)]);
  }
});

test("standard-webhooks accepts one of several signatures, up to 20", () => {
  const secret = secretOf("standard-webhooks");
  const right = sign["standard-webhooks"](secret, body);
  const with_ = (...signatures: string[]) =>
    refusal("standard-webhooks", { ...right, "webhook-signature": signatures.join(" ") }, [secret]);
  expect(with_("v1a,abc", "v1,abc", right["webhook-signature"]!)).toBeNull();
  expect(with_(...Array(19).fill("v1,abc"), right["webhook-signature"]!)).toBeNull();
  expect(with_(...Array(20).fill("v1,abc"), right["webhook-signature"]!)).toMatch(/no signature/);
  expect(with_(right["webhook-signature"]!.replace("v1,", "v1a,"))).toMatch(/no signature/);
});

test("bearer reads its scheme in any case", () => {
  const secret = secretOf("bearer");
  expect(refusal("bearer", { authorization: `bearer   ${secret}` }, [secret])).toBeNull();
  expect(refusal("bearer", { authorization: `Basic ${secret}` }, [secret])).toMatch(/required/);
});

describe("a secret", () => {
  test("is random where the sender has chosen none", () => {
    expect(secretOf("standard-webhooks")).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secretOf("github")).toMatch(/^berth_hs_[0-9a-f]{48}$/);
    expect(secretOf("github")).not.toBe(secretOf("github"));
  });

  test("of Slack is given, and one of Standard Webhooks has its form", () => {
    expect(() => hookSecret("slack", undefined)).toThrow("secret is required with slack");
    const given = `whsec_${Buffer.alloc(24).toString("base64")}`;
    expect(hookSecret("standard-webhooks", given)).toBe(given);
    for (const wrong of [
      "whsec_AAAA",
      given.slice(6),
      `whsec_${Buffer.alloc(65).toString("base64")}`,
      "whsec_!!!!!!!!!!!!",
    ]) {
      expect(() => hookSecret("standard-webhooks", wrong)).toThrow("24 to 64 bytes");
    }
  });
});
