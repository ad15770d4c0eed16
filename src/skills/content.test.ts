import { createHash } from "node:crypto";
import { deflateRawSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { described, type SkillEntries, skillText, tarOf } from "../../test/support/skill-archives.ts";
import { filesIn } from "./archive.ts";
import { checkedSkill } from "./skill.ts";

const source = { type: "archive" } as const;
const plain = skillText("pdf-forms", described);

async function check(entries: SkillEntries, hash?: string) {
  return checkedSkill(await filesIn(await tarOf(entries)), { name: "pdf-forms", hash, source });
}

const sha = (text: string) => createHash("sha256").update(text).digest("hex");

describe("a skill", () => {
  test("has what its front matter says, its files, and a hash of them", async () => {
    const text = skillText(
      "pdf-forms",
      'description: "Fills in: forms."',
      "license: Apache-2.0",
      "compatibility: Requires Python 3.14+",
      "metadata:",
      "  version: 1.0",
      "  author: ada",
      "allowed-tools: Bash(git add *) Read, Grep",
    );
    const skill = await check({
      "pdf-forms/": { type: "directory" },
      "pdf-forms/scripts/fill.py": "print()",
      "pdf-forms/SKILL.md": text,
      "pdf-forms/bin/run": { mode: 0o755, text: "x" },
      "pdf-forms/bin/shebang": "#!/bin/sh",
      "pdf-forms/references/a.md": "a",
      "pdf-forms/.DS_Store": "left out",
      "pdf-forms/.git/config": "left out",
      "pdf-forms/._SKILL.md": "left out",
    });
    expect(skill).toMatchObject({
      name: "pdf-forms",
      description: "Fills in: forms.",
      license: "Apache-2.0",
      compatibility: "Requires Python 3.14+",
      metadata: { version: "1.0", author: "ada" },
      allowedTools: ["Bash(git add *)", "Read", "Grep"],
      programs: ["bin/run", "bin/shebang", "scripts/fill.py"],
    });
    expect(skill.files.map(({ path }) => path)).toEqual([
      "SKILL.md",
      "bin/run",
      "bin/shebang",
      "references/a.md",
      "scripts/fill.py",
    ]);
    const lines = [
      `${sha(text)} - SKILL.md\n`,
      `${sha("x")} x bin/run\n`,
      `${sha("#!/bin/sh")} - bin/shebang\n`,
      `${sha("a")} - references/a.md\n`,
      `${sha("print()")} - scripts/fill.py\n`,
    ];
    expect(skill.hash).toBe(sha(lines.join("")));
  });

  test("has the same hash in a tar, a tar.gz and a zip, with or without a folder", async () => {
    const tar = await tarOf({ "SKILL.md": plain, "a/b.sh": { mode: 0o755, text: "x" } });
    const folder = await tarOf({ "f/a/b.sh": { mode: 0o755, text: "x" }, "f/SKILL.md": plain });
    const zip = zipOf([
      { name: "f/", text: "" },
      { name: "f/SKILL.md", text: plain },
      { name: "f/a/b.sh", text: "x", mode: 0o100755 },
    ]);
    const hashes = await Promise.all(
      [tar, gzipSync(tar), folder, zip].map(
        async (bytes) => checkedSkill(await filesIn(bytes), { name: "pdf-forms", hash: undefined, source }).hash,
      ),
    );
    expect(new Set(hashes).size).toBe(1);
  });

  test("is refused if it has another hash than the one asked for", async () => {
    const { hash } = await check({ "SKILL.md": plain });
    expect((await check({ "SKILL.md": plain }, hash)).hash).toBe(hash);
    await expect(check({ "SKILL.md": `${plain} ` }, hash)).rejects.toMatchObject({ code: "skill_changed" });
    await expect(check({ "SKILL.md": plain, b: "" }, hash)).rejects.toMatchObject({ code: "skill_changed" });
    await expect(check({ "SKILL.md": { text: plain, mode: 0o755 } }, hash)).rejects.toThrow("has the hash");
  });
});

describe("front matter", () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]", ...["b", "c", "d", "e", "f", "g", "h", "i"].map(next)];
  function next(name: string, index: number): string {
    const before = String.fromCharCode("a".charCodeAt(0) + index);
    return `${name}: &${name} [${Array(9).fill(`*${before}`).join(",")}]`;
  }

  test.each([
    ["without any", "# No front matter", "does not begin with front matter"],
    ["without an end", "---\nname: pdf-forms\n", "does not begin with front matter"],
    ["that is too long", skillText("pdf-forms", described, `license: ${"x".repeat(17_000)}`), "up to 16 KiB"],
    ["that is no map", "---\n- a\n---\n", "SKILL.md: "],
    ["that is no YAML", "---\nname: [\n---\n", "is not YAML"],
    ["with a key twice", skillText("pdf-forms", described, "name: other"), "is not YAML"],
    ["that multiplies", skillText("pdf-forms", described, ...bomb), "is not YAML"],
    ["that is nested deeply", skillText("pdf-forms", described, `metadata: ${"[".repeat(8_000)}`), "is not YAML"],
    ["without a name", `---\n${described}\n---\n`, "name"],
    ["without a description", skillText("pdf-forms"), "description"],
    ["with an empty description", skillText("pdf-forms", 'description: "  "'), "description is required"],
    ["with a long description", skillText("pdf-forms", `description: ${"x".repeat(1_025)}`), "up to 1,024"],
    ["with a long compatibility", skillText("pdf-forms", described, `compatibility: ${"x".repeat(501)}`), "500"],
    ["with a field of its own", skillText("pdf-forms", described, "hooks: {}"), "hooks"],
    ["with nested metadata", skillText("pdf-forms", described, "metadata: {a: {b: c}}"), "metadata.a"],
    ["with many tools", skillText("pdf-forms", described, `allowed-tools: ${"a ".repeat(101)}`), "100 tools"],
    ["with another name", skillText("docx-forms", described), "has the name docx-forms, not pdf-forms"],
    ["with a name in capitals", skillText("PDF-forms", described), "a-z, 0-9"],
    ["with two hyphens", skillText("pdf--forms", described), "single hyphens"],
    ["with a prototype", skillText("pdf-forms", described, "__proto__: {polluted: true}"), "__proto__"],
  ])("%s is refused", async (_, text, said) => {
    await expect(check({ "SKILL.md": text })).rejects.toThrow(said);
    await expect(check({ "SKILL.md": text })).rejects.toMatchObject({ code: "skill_invalid" });
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  test("that is not UTF-8 is refused", async () => {
    await expect(check({ "SKILL.md": Buffer.concat([Buffer.from(plain), Buffer.from([0xff])]) })).rejects.toThrow(
      "SKILL.md is not UTF-8",
    );
  });

  test("may have Windows' line ends", async () => {
    expect((await check({ "SKILL.md": plain.replaceAll("\n", "\r\n") })).description).toContain("Explains how");
  });
});

describe("an archive", () => {
  const files = { "SKILL.md": plain };
  const hostile: [string, SkillEntries, string][] = [
    ["without a SKILL.md", { "a.md": "a" }, "has no SKILL.md"],
    ["with a SKILL.md in one of two folders", { "a/SKILL.md": plain, "b/c": "c" }, "has no SKILL.md"],
    ["with a path upwards", { ...files, "../evil": "x" }, "not a relative path"],
    ["with a path upwards inside", { ...files, "a/../../evil": "x" }, "not a relative path"],
    ["with an absolute path", { ...files, "/etc/passwd": "x" }, "not a relative path"],
    ["with a backslash", { ...files, "a\\b": "x" }, "not a relative path"],
    ["with a line feed", { ...files, "a\nb": "x" }, "not a relative path"],
    ["with an empty name", { ...files, "a//b": "x" }, "not a relative path"],
    ["with a long name", { ...files, ["x".repeat(256)]: "x" }, "not a relative path"],
    ["with a long path", { ...files, [`${"x".repeat(200)}/${"y".repeat(200)}`]: "x" }, "is too long"],
    ["with many levels", { ...files, [`${"a/".repeat(16)}b`]: "x" }, "is too long"],
    ["with names that differ by case", { ...files, "a/B": "x", "A/b": "y" }, "it has both"],
    ["with a second SKILL.md", { ...files, "skill.md": "x" }, "it has both"],
    ["with a file below a file", { ...files, a: "x", "a/b": "y" }, "is below a file"],
    ["with a symbolic link", { ...files, a: { type: "symlink", linkname: "/etc/passwd" } }, "is a symlink"],
    ["with a link", { ...files, a: { type: "link", linkname: "SKILL.md" } }, "is a link"],
    ["with a device", { ...files, a: { type: "character-device", devmajor: 1, devminor: 3 } }, "character-device"],
    ["with a pipe", { ...files, a: { type: "fifo" } }, "is a fifo"],
    ["with many files", { ...files, ...Object.fromEntries(numbers(500)) }, "up to 500 files"],
    ["with many folders", { ...files, ...Object.fromEntries(folders(5_001)) }, "more than 5000 entries"],
    ["with large files", { ...files, a: Buffer.alloc(2 ** 21), b: Buffer.alloc(2 ** 21) }, "exceed the 4 MiB"],
  ];
  function numbers(count: number): [string, string][] {
    return Array.from({ length: count }, (_, index) => [`f${index}`, ""]);
  }
  function folders(count: number): [string, { type: "directory" }][] {
    return Array.from({ length: count }, (_, index) => [`d${index}/`, { type: "directory" }]);
  }

  test.each(hostile)("%s is refused", async (_, entries, said) => {
    await expect(check(entries)).rejects.toThrow(said);
    await expect(check(entries)).rejects.toMatchObject({ code: "skill_invalid" });
  });

  test("that expands without end is read up to a limit", async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 ** 2));
    await expect(filesIn(bomb)).rejects.toMatchObject({ code: "skill_invalid" });
    const declared = await tarOf({ "SKILL.md": plain });
    // A size in the header that never comes.
    declared.write("77777777777\0", 124, "latin1");
    declared.write("        ", 148, "latin1");
    const sum = declared.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    declared.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
    await expect(filesIn(declared)).rejects.toThrow("exceed the 4 MiB");
  });

  test("with names that are not UTF-8 is refused", async () => {
    const tar = await tarOf({ "SKILL.md": plain, ab: "x" });
    const at = tar.indexOf("ab\0", 512);
    tar[at + 1] = 0xff;
    tar.write("        ", at + 148, "latin1");
    const sum = tar.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
    tar.write(`${sum.toString(8).padStart(6, "0")}\0 `, at + 148, "latin1");
    await expect(filesIn(tar)).rejects.toThrow("in UTF-8");
  });

  test.each([
    ["empty", Buffer.alloc(0), "the archive is empty"],
    ["no archive", Buffer.from("hello ".repeat(200)), "not a complete tar"],
    ["cut off", gzipSync(Buffer.alloc(4_096)).subarray(0, 20), "not a complete tar"],
    ["a zip that is cut off", zipOf([{ name: "SKILL.md", text: plain }]).subarray(0, 60), "not a complete zip"],
    ["a zip with a link", zipOf([{ name: "a", text: "b", mode: 0o120777 }]), "is a symlink"],
    ["a zip with a path upwards", zipOf([{ name: "../a", text: "b" }]), "not a complete zip"],
    ["a zip with a larger file", zipOf([{ name: "a", text: "b".repeat(9_000), size: 10 }]), "not a complete zip"],
    ["a zip with a huge file", zipOf([{ name: "a", text: "b", size: 2 ** 31 }]), "exceed the 4 MiB"],
    ["a zip with a password", zipOf([{ name: "a", text: "b", flags: 1 }]), "not a complete zip"],
  ])("%s is refused", async (_, bytes, said) => {
    await expect(filesIn(bytes)).rejects.toThrow(said);
    await expect(filesIn(bytes)).rejects.toMatchObject({ code: "skill_invalid" });
  });
});

interface ZipEntry {
  name: string;
  text: string;
  mode?: number;
  /** The uncompressed size that it states. */
  size?: number;
  flags?: number;
}

/** A zip as programs write it, without its checks (APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16). */
function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, text, mode = 0o100644, size = Buffer.byteLength(text), flags = 0 } of entries) {
    const packed = deflateRawSync(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800 | flags, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), common, rest, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
}
