import { expect, test } from "vitest";
import { readConfig } from "./env.ts";
import { ConfigError } from "./variables.ts";

const acme = {
  BERTH_ACME: "true",
  BERTH_ACME_AGREE_TERMS: "true",
  BERTH_PUBLIC_URL: "https://berth.example.com",
};
const files = { BERTH_TLS_CERT_FILE: "/tls.pem", BERTH_TLS_KEY_FILE: "/tls.key" };

test("a certificate is ordered from Let's Encrypt by HTTP-01 at port 80", () => {
  expect(readConfig(acme).https).toEqual({
    files: null,
    acme: {
      name: "berth.example.com",
      directory: "https://acme-v02.api.letsencrypt.org/directory",
      caFile: null,
      challenge: "http-01",
      email: null,
    },
    host: null,
    port: 7443,
    redirect: { host: null, port: 80 },
    hstsSeconds: 0,
  });
  expect(readConfig({ ...acme, BERTH_ACME: "false" }).https).toBeNull();
});

test("TLS-ALPN-01 needs no plain HTTP", () => {
  const set = { ...acme, BERTH_ACME_CHALLENGE: "tls-alpn-01", BERTH_TLS_HOST: "10.0.0.5" };
  expect(readConfig(set).https?.redirect).toBeNull();
  expect(readConfig({ ...set, BERTH_HTTP_REDIRECT_PORT: "8080" }).https?.redirect).toEqual({
    host: "10.0.0.5",
    port: 8080,
  });
});

test("a private directory has its own authority, and the account an address", () => {
  const set = {
    ...acme,
    BERTH_ACME_DIRECTORY: "https://ca.corp/acme/directory",
    BERTH_ACME_DIRECTORY_CA_FILE: "/etc/berth/ca.pem",
    BERTH_ACME_EMAIL: "admin@example.com",
  };
  expect(readConfig(set).https?.acme).toMatchObject({
    directory: "https://ca.corp/acme/directory",
    caFile: "/etc/berth/ca.pem",
    email: "admin@example.com",
  });
});

test("redirects and HSTS work with certificate files", () => {
  const set = { ...files, BERTH_PUBLIC_URL: "https://berth.example", BERTH_HTTP_REDIRECT_PORT: "80" };
  const hsts = { BERTH_HTTP_REDIRECT_HOST: "::", BERTH_HSTS_SECONDS: "3600" };
  expect(readConfig({ ...set, ...hsts }).https).toMatchObject({
    redirect: { host: "::", port: 80 },
    hstsSeconds: 3_600,
  });
});

test.each([
  [
    { BERTH_ACME_AGREE_TERMS: "" },
    /BERTH_ACME_AGREE_TERMS: read the terms of service .*https:\/\/letsencrypt\.org\/repository/,
  ],
  [{ BERTH_ACME_AGREE_TERMS: "false" }, /BERTH_ACME_AGREE_TERMS: read the terms/],
  [{ BERTH_ACME: "yes please" }, /BERTH_ACME: "yes please" is not allowed/],
  [files, /BERTH_ACME and BERTH_TLS_CERT_FILE: set one of them/],
  [{ BERTH_PUBLIC_URL: "" }, /BERTH_PUBLIC_URL: with BERTH_ACME, set it to https:\/\/ and a public name/],
  [{ BERTH_PUBLIC_URL: "http://berth.example.com" }, /BERTH_PUBLIC_URL: with BERTH_ACME, set it to the address/],
  [{ BERTH_PUBLIC_URL: "https://203.0.113.7" }, /BERTH_PUBLIC_URL: .* a public name/],
  [{ BERTH_PUBLIC_URL: "https://[2001:db8::1]" }, /BERTH_PUBLIC_URL: .* a public name/],
  [{ BERTH_PUBLIC_URL: "https://localhost" }, /BERTH_PUBLIC_URL: .* a public name/],
  [
    { BERTH_PREVIEW_DOMAIN: "pages.example" },
    /BERTH_PREVIEW_DOMAIN: .*wildcard certificate.*DNS-01.*does not offer it/,
  ],
  [{ BERTH_ACME_CHALLENGE: "dns-01" }, /BERTH_ACME_CHALLENGE: "dns-01" is not allowed.*http-01, tls-alpn-01/],
  [{ BERTH_ACME_DIRECTORY: "http://ca.corp" }, /BERTH_ACME_DIRECTORY: .*begins with https/],
  [{ BERTH_ACME_EMAIL: "admin" }, /BERTH_ACME_EMAIL: "admin" is not allowed\. An address such as/],
  [{ BERTH_HTTP_REDIRECT_PORT: "-1" }, /BERTH_HTTP_REDIRECT_PORT/],
  [{ BERTH_HSTS_SECONDS: "99999999" }, /BERTH_HSTS_SECONDS: .*at most 63072000/],
])("with ACME, %j stops the start", (changes, complaint) => {
  expect(() => readConfig({ ...acme, ...changes })).toThrow(ConfigError);
  expect(() => readConfig({ ...acme, ...changes })).toThrow(complaint);
});

test.each(["BERTH_HTTP_REDIRECT_PORT", "BERTH_HSTS_SECONDS"])("%s needs HTTPS", (name) => {
  expect(() => readConfig({ [name]: "80" })).toThrow(`${name}: it needs HTTPS; set BERTH_TLS_CERT_FILE or BERTH_ACME`);
});
