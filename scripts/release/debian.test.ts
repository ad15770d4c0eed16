import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { packagedUnit } from "./debian.ts";
import { manPage } from "./man-page.ts";

const repository = join(import.meta.dirname, "../..");

test("the package depends on each Debian package that scripts/setup installs", async () => {
  const setup = await readFile(join(repository, "scripts/setup"), "utf8");
  const needed = /^packages='([^']+) '/m.exec(setup)![1]!.split(" ");
  const control = await readFile(join(repository, "deploy/debian/control"), "utf8");
  const depends = /^Depends: (.+)$/m
    .exec(control)![1]!
    .split(", ")
    .map((each) => each.split(" ")[0]);
  expect(depends).toEqual(expect.arrayContaining(needed));
});

test("the package makes the users and the range of ids that scripts/setup makes", async () => {
  const [setup, postinst] = await Promise.all(
    ["scripts/setup", "deploy/debian/postinst"].map((path) => readFile(join(repository, path), "utf8")),
  );
  for (const line of [
    "for user in berth-vm berth-db; do",
    "useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin",
    "usermod --add-subuids 1900000000-1900065535 berth-vm",
  ])
    expect([setup!.includes(line), postinst!.includes(line)]).toEqual([true, true]);
});

test("the package's unit runs the installed program and starts the unit of the guest image", () => {
  const unit = packagedUnit();
  expect(unit).toMatch(/^ExecStart=\/usr\/lib\/berth\/node_modules\/\S+\/node \/usr\/lib\/berth\/src\/main\.ts$/m);
  expect(unit).toContain("\nWants=network-online.target berth-image.service\n");
});

test("the manual page has each command and option, and no line that troff would take as a request", async () => {
  const page = manPage(await createProgram([]), "1.2.3", "2026-11-27");
  expect(page).toContain('.TH BERTH 1 2026-11-27 "Berth 1.2.3"');
  for (const words of ["berth agents network set", "berth admin backup", "berth service install"])
    expect(page).toContain(`.SS\n${words}`);
  expect(page).toContain("\\fB\\-\\-dry\\-run\\fR");
  const requests = new Set(page.split("\n").flatMap((line) => /^[.'](\S*)/.exec(line)?.[1] ?? []));
  expect(requests).toEqual(new Set(["TH", "SH", "SS", "TP", "B", "I", "BR"]));
});
