import { describe, expect, test } from "vitest";
import {
  allAllowed,
  decide,
  type PermissionKind,
  Permissions,
  restrictedKind,
  ruleFor,
  withoutAsking,
  withRule,
} from "./permissions.ts";

function decisionOf(pattern: string, subject: string | null, kind: PermissionKind = "execute") {
  const permissions = Permissions.parse({ [kind]: "ask", rules: [{ kind, pattern, decision: "allow" }] });
  return decide(permissions, { kind, subject });
}

describe("a pattern", () => {
  test.each([
    ["git status", "git status", "allow"],
    ["git status", "git status ", "ask"],
    ["git *", "git push origin main", "allow"],
    ["git *", "git", "ask"],
    ["*", "anything at all", "allow"],
    ["*.log", "rm a.log", "allow"],
    ["rm ?.log", "rm 船.log", "allow"],
    ["rm ?.log", "rm 🚢.log", "allow"],
    ["rm ?.log", "rm ab.log", "ask"],
    ["rm \\*.log", "rm *.log", "allow"],
    ["rm \\*.log", "rm a.log", "ask"],
    ["a*b*c", "aXbYbZc", "allow"],
    ["a*b*c", "aXbYbZ", "ask"],
    ["\\", "\\", "allow"],
  ])("%s decides about %s: %s", (pattern, subject, decision) => {
    expect(decisionOf(pattern, subject)).toBe(decision);
  });

  test.each([
    "git status; rm -rf /",
    "git status && rm -rf /",
    "git status | sh",
    "git status > /etc/passwd",
    "git $(rm -rf /)",
    "git `rm -rf /`",
    "git status\nrm -rf /",
    "git status &",
  ])("with a wildcard does not match %s, which may be several commands", (command) => {
    expect(decisionOf("git *", command)).toBe("ask");
    expect(decisionOf("*", command)).toBe("ask");
    expect(decisionOf(command.replace(/[*?\\]/g, "\\$&"), command)).toBe("allow");
  });

  test("matches shell operators in a path", () => {
    expect(decisionOf("/home/agent/*", "/home/agent/a;b", "edit")).toBe("allow");
  });

  test("matches nothing without a subject", () => {
    expect(decisionOf("*", null)).toBe("ask");
  });

  test("with many wildcards takes no time on a long command", () => {
    expect(decisionOf(`${"*a".repeat(1_000)}b`, "a".repeat(20_000))).toBe("ask");
  });
});

test("the first rule that matches decides, for its kind only", () => {
  const permissions = Permissions.parse({
    rules: [
      { kind: "execute", pattern: "git push*", decision: "deny" },
      { kind: "execute", pattern: "git *", decision: "ask" },
      { kind: "read", pattern: "*", decision: "deny" },
    ],
  });
  const decisions = ["git push origin", "git log", "ls"].map((subject) =>
    decide(permissions, { kind: "execute", subject }),
  );
  expect(decisions).toEqual(["deny", "ask", "allow"]);
});

test("the rule for a use allows exactly that use, before all others", () => {
  const subject = "rm -rf *; echo \\?";
  const rule = ruleFor({ kind: "execute", subject })!;
  const permissions = withRule(Permissions.parse({ execute: "deny" }), rule)!;
  expect(decide(permissions, { kind: "execute", subject })).toBe("allow");
  expect(decide(permissions, { kind: "execute", subject: "rm -rf a; echo \\?" })).toBe("deny");
  expect(ruleFor({ kind: "fetch", subject: null })).toBeNull();
  expect(withRule(Permissions.parse({ rules: Array(200).fill(rule) }), rule)).toBeNull();
  expect(ruleFor({ kind: "execute", subject: "a".repeat(4_001) })).toBeNull();
});

test("what would be asked is denied where nobody can be asked", () => {
  const asking = Permissions.parse({ edit: "ask", rules: [{ kind: "read", pattern: "*", decision: "ask" }] });
  const denying = withoutAsking(asking);
  expect(decide(denying, { kind: "edit", subject: "/a" })).toBe("deny");
  expect(decide(denying, { kind: "read", subject: "/a" })).toBe("deny");
  expect(decide(denying, { kind: "execute", subject: "ls" })).toBe("allow");
});

test("the first kind that is not always allowed is named", () => {
  expect(restrictedKind(allAllowed)).toBeNull();
  expect(restrictedKind(Permissions.parse({ fetch: "deny" }))).toBe("fetch");
  const rules = [
    { kind: "read", pattern: "*", decision: "allow" },
    { kind: "mcp", pattern: "*", decision: "ask" },
  ];
  expect(restrictedKind(Permissions.parse({ rules }))).toBe("mcp");
});
