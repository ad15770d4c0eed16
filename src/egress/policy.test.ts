import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { parseAuthority } from "../contract/egress-rules.ts";
import { isPublic, mayBeExempt } from "./addresses.ts";
import { type AgentRules, Policy, type PolicyOptions } from "./policy.ts";

const anything: AgentRules = { allow: ["*"], deny: [], ask: false };

function policy(options: Partial<PolicyOptions> = {}): Policy {
  return new Policy({ operator: anything, inside: [], own: () => [], lookUp: async () => [], ...options });
}

/** Why this destination is refused when the name has these addresses. */
async function refusal(authority: string, addresses: string[] = [], agent = anything, by = policy()) {
  const destination = parseAuthority(authority);
  if (!destination) return "destination_invalid";
  const found = destination.host.kind === "address" ? [destination.host.text] : addresses;
  return by.refuseAsked(destination, agent) ?? (await by.refuseAddresses(destination, found, agent));
}

const outside = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"];

test.each(["example.com:443", "EXAMPLE.com:80", "example.com.:8080", "xn--bcher-kva.example.com:443", "1.1.1.1:53"])(
  "%s is connected",
  async (authority) => expect(await refusal(authority, outside)).toBeNull(),
);

/** Addresses that are not on the public internet, in every form. */
const insideAddresses = [
  "127.0.0.1",
  "127.0.0.53",
  "127.255.255.254",
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.0.2.2",
  "10.255.255.255",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "192.168.255.255",
  "169.254.0.1",
  "169.254.169.254",
  "169.254.170.2",
  "100.64.0.1",
  "100.100.100.200",
  "100.127.255.255",
  "192.0.0.1",
  "192.0.0.170",
  "192.0.0.192",
  "192.0.2.1",
  "198.51.100.1",
  "203.0.113.1",
  "198.18.0.1",
  "198.19.0.1",
  "192.88.99.1",
  "192.52.193.1",
  "192.31.196.1",
  "192.175.48.1",
  "168.63.129.16",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::2",
  "fe80::1",
  "febf::1",
  "fec0::1",
  "fc00::1",
  "fd00:ec2::254",
  "fdff::1",
  // Those that embed an IPv4 address: compatible, mapped, translated, NAT64, 6to4, Teredo, ISATAP.
  "::127.0.0.1",
  "::7f00:1",
  "::10.0.0.1",
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:8.8.8.8",
  "::ffff:0:127.0.0.1",
  "64:ff9b::127.0.0.1",
  "64:ff9b::a00:1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::a00:1",
  "64:ff9b:1:ffff::1",
  "2002:7f00:1::",
  "2002:a00:1::1",
  "2002:808:808::1",
  "2001::1",
  "2001:0:7f00:1::",
  "2606:4700::5efe:a00:1",
  "2606:4700::200:5efe:7f00:1",
  "2606:4700:1:2:0:5efe:10.0.0.1",
  "2001:db8::1",
  "2001:2::1",
  "2001:3::1",
  "2001:10::1",
  "2001:20::1",
  "2001:30::1",
  "3fff::1",
  "100::1",
  "5f00::1",
  "4000::1",
  "8000::1",
  "e000::1",
  "200::1",
  "400::1",
  "ff02::1",
  "ff0e::1",
  "2620:4f:8000::1",
];

test.each(insideAddresses)("%s is refused, as it is and where a name leads to it", async (address) => {
  const asked = address.includes(":") ? `[${address}]` : address;
  expect(await refusal(`${asked}:80`)).toBe("inside");
  expect(await refusal("rebound.example.com:80", [address])).toBe("inside");
  // In any position among public ones: chance must not decide which is used.
  expect(await refusal("half.example.com:443", [outside[0]!, address])).toBe("inside");
  expect(await refusal("half.example.com:443", [address, outside[0]!])).toBe("inside");
});

test("an address with a zone is never good, whoever says it", () => {
  for (const address of ["fe80::1%eth0", "2606:2800::1%1", "::1%lo", "not an address", ""]) {
    expect(isPublic(address)).toBe(false);
    expect(mayBeExempt(address)).toBe(false);
  }
});

test.each([
  // Other spellings of IPv4 addresses: shortened, decimal, octal, hexadecimal, padded, with too many parts.
  "127.1:80",
  "127.0.1:80",
  "2130706433:80",
  "017700000001:80",
  "0x7f000001:80",
  "0x7f.0.0.1:80",
  "0177.0.0.1:80",
  "127.0.0.01:80",
  "00127.0.0.1:80",
  "127.0.0.1.1:80",
  "127.0.0:80",
  "256.0.0.1:80",
  "4294967296:80",
  "0:80",
  "0x:80",
  "1.2.3.0x4:80",
  "10.0.0.1..:80",
  ".10.0.0.1:80",
  "1:80",
  // Other digits, dots and letters, and percent escapes, which some programs normalize.
  "①②⑦.⓪.⓪.①:80",
  "１２７.0.0.1:80",
  "127。0。0。1:80",
  "127．0．0．1:80",
  "１:80",
  "ⓛocalhost:80",
  "loca\u212Ahost:80",
  "%6c%6f%63%61%6c%68%6f%73%74:80",
  "127%2e0%2e0%2e1:80",
  "exa\u00ADmple.com:80",
  "bücher.de:443",
  "xn--:80",
  // IPv6 without brackets, with a zone, or cut off.
  "::1:80",
  "[::1]",
  "[::1%25lo]:80",
  "[fe80::1%eth0]:80",
  "[::1:80",
  "::1]:80",
  "[127.0.0.1]:80",
  "[localhost]:80",
  "[::ffff:127.1]:80",
  "[::ffff:0x7f.0.0.1]:80",
  "[]:80",
  "[:]:80",
  "[1]:80",
  "[v1.a]:80",
  // A user before the host, something after the port, no port, and invalid ports.
  "user@example.com:80",
  "user:pass@example.com:80",
  "example.com@127.0.0.1:80",
  "127.0.0.1:80@example.com:80",
  "example.com",
  "example.com:",
  ":80",
  "",
  "example.com:0",
  "example.com:00080",
  "example.com:65536",
  "example.com:99999999",
  "example.com:-1",
  "example.com:+80",
  "example.com:8e1",
  "example.com:0x50",
  "example.com:80/",
  "example.com:80#",
  "example.com:80?x",
  "http://example.com:80",
  "//example.com:80",
  "example.com:80 ",
  " example.com:80",
  "exam ple.com:80",
  "example.com\t:80",
  "example.com\0:80",
  "a\r\nb:80",
  "example.com:80:80",
  "example.com,127.0.0.1:80",
  "example.com;127.0.0.1:80",
  "example.com\\@127.0.0.1:80",
  // Invalid names.
  "..:80",
  ".:80",
  ".example.com:80",
  "example..com:80",
  "-.com:80",
  "*.example.com:80",
  "*:80",
  `${"a".repeat(64)}.com:80`,
  `${"a.".repeat(127)}com:80`,
  "a/24:80",
  "10.0.0.0/8:80",
])("%j is not taken for a destination", async (authority) => {
  expect(await refusal(authority, outside)).toBe("destination_invalid");
});

test.each([
  "localhost:80",
  "LOCALHOST:80",
  "localhost.:80",
  "a.localhost:80",
  "metadata:80",
  "metadata.google.internal:80",
  "METADATA.google.INTERNAL.:80",
  "instance-data.ec2.internal:80",
  "router.local:80",
  "nas.home.arpa:80",
  "db.internal:5432",
  "host.localdomain:80",
  "intranet.corp:80",
  "printer.lan:631",
  "postgres:5432",
  "a:443",
])("%s is refused before it is looked up, wherever it leads", async (authority) => {
  expect(policy().refuseAsked(parseAuthority(authority)!, anything)).toBe("inside");
});

test("this host's own addresses are refused, whatever they are", async () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  expect(own.length).toBeGreaterThan(0);
  for (const { address } of own) {
    expect(await refusal("me.example.com:443", [address.split("%")[0]!])).toBe("inside");
  }
});

test("the database is refused on its port, by its name and by its addresses", async () => {
  const lookUp = async (name: string) => (name === "db.example.com" ? [outside[0]!] : []);
  const by = policy({ own: () => [{ host: "db.example.com", port: 5432 }], lookUp });
  expect(await refusal("db.example.com:5432", [outside[0]!], anything, by)).toBe("inside");
  expect(await refusal("alias.example.com:5432", [outside[0]!], anything, by)).toBe("inside");
  expect(await refusal("db.example.com:443", [outside[0]!], anything, by)).toBeNull();
});

test("where it is not known whether an address is the database's, there is no answer but a fault", async () => {
  const lookUp = () => Promise.reject(new Error("DNS is away"));
  const by = policy({ own: () => [{ host: "db.example.com", port: 5432 }], lookUp });
  await expect(refusal("example.com:5432", [outside[0]!], anything, by)).rejects.toThrow("DNS is away");
});

test("the operator opens one internal host and port, and no other", async () => {
  const by = policy({
    inside: ["mirror.corp:443", "10.1.2.3:8080", "[fd12::1]:80"],
    own: () => [{ host: "0.0.0.0", port: 443 }],
  });
  expect(await refusal("mirror.corp:443", ["10.1.2.4"], anything, by)).toBeNull();
  expect(await refusal("MIRROR.corp.:443", ["fd12::1", "100.64.0.1"], anything, by)).toBeNull();
  expect(await refusal("10.1.2.3:8080", [], anything, by)).toBeNull();
  expect(await refusal("[FD12:0::1]:80", [], anything, by)).toBeNull();
  for (const authority of ["mirror.corp:444", "other.corp:443", "10.1.2.3:80", "10.1.2.4:8080", "[fd12::2]:80"]) {
    expect(await refusal(authority, ["10.1.2.4"], anything, by)).toBe("inside");
  }
  expect(await refusal("a.example.com:8080", ["10.1.2.3"], anything, by)).toBe("inside");
});

test("no exception opens a cloud's metadata, a link, or the service itself", async () => {
  const own = () => [{ host: "0.0.0.0", port: 7420 }];
  const lookUp = async () => ["10.9.9.9"];
  const opened = ["mirror.corp:80", "mirror.corp:7420", "mirror.corp:5432", "169.254.169.254:80", "127.0.0.1:7420"];
  const by = policy({ inside: opened, own: () => [...own(), { host: "db.corp", port: 5432 }], lookUp });
  for (const address of [
    "169.254.169.254",
    "169.254.170.2",
    "168.63.129.16",
    "192.0.0.192",
    "100.100.100.200",
    "fd00:ec2::254",
    "fe80::1",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "255.255.255.255",
    "ff02::1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "::ffff:10.0.0.1",
    "::10.0.0.1",
  ]) {
    expect([address, await refusal("mirror.corp:80", [address], anything, by)]).toEqual([address, "inside"]);
  }
  expect(await refusal("169.254.169.254:80", [], anything, by)).toBe("inside");
  expect(await refusal("127.0.0.1:7420", [], anything, by)).toBe("inside");
  expect(await refusal("mirror.corp:7420", ["127.0.0.1"], anything, by)).toBe("inside");
  expect(await refusal("mirror.corp:7420", ["10.1.2.3"], anything, by)).toBeNull();
  expect(await refusal("mirror.corp:5432", ["10.9.9.9"], anything, by)).toBe("inside");
  expect(await refusal("mirror.corp:5432", ["10.9.9.8"], anything, by)).toBeNull();
});

test("deny wins, the operator's lists come first, and both must allow", async () => {
  const by = policy({
    operator: { allow: ["*.example.com", "1.1.1.0/24", "[2606:4700::/32]"], deny: ["bad.example.com"] },
  });
  const agent = {
    allow: ["*:443", "a.example.com:80", "1.1.1.1"],
    deny: ["*.deep.example.com", "1.1.1.2", "93.184.215.0/24:8443"],
    ask: false,
  };
  const cases: [authority: string, expected: string | null, addresses?: string[]][] = [
    ["a.example.com:443", null],
    ["a.example.com:80", null],
    ["b.example.com:80", "not_allowed"],
    ["example.com:443", "not_allowed_by_operator"],
    ["notexample.com:443", "not_allowed_by_operator"],
    ["bad.example.com:443", "denied_by_operator"],
    ["BAD.example.com.:443", "denied_by_operator"],
    ["not.bad.example.com:443", null],
    ["x.deep.example.com:443", "denied"],
    ["y.x.deep.example.com:443", "denied"],
    ["deep.example.com:443", null],
    ["1.1.1.1:80", null],
    ["1.1.1.2:443", "denied"],
    ["1.1.2.1:443", "not_allowed_by_operator"],
    ["[2606:4700::1111]:443", null],
    ["[2606:4701::1111]:443", "not_allowed_by_operator"],
    // Denying an address denies every name for it; allowing an address allows no name.
    ["c.example.com:443", "denied", ["1.1.1.2"]],
    ["c.example.com:443", null, ["1.1.1.1"]],
    ["other.org:443", "not_allowed_by_operator", ["1.1.1.1"]],
    ["a.example.com:25", "port_refused"],
  ];
  for (const [authority, expected, addresses = outside] of cases) {
    expect([authority, await refusal(authority, addresses, agent, by)]).toEqual([authority, expected]);
  }
});
