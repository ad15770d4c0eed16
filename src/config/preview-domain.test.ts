import { expect, test } from "vitest";
import { previewWarnings } from "./preview-domain.ts";

test("a preview domain wants TLS, and a site of its own", () => {
  const count = (previewDomain: string, publicUrl: string | null) =>
    previewWarnings({ previewDomain, publicUrl }).length;
  expect(count("localhost", null)).toBe(0);
  expect(count("localhost", "http://127.0.0.1:7420")).toBe(0);
  expect(count("agents.example", "https://berth.example.com")).toBe(0);
  expect(count("agents.example", "http://berth.example.com")).toBe(1);
  expect(count("previews.example.com", "https://berth.example.com")).toBe(1);
  expect(count("previews.example.com", "http://berth.example.com/at")).toBe(2);
});
