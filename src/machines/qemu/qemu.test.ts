import { expect, test } from "vitest";
import { qemuArguments, type Start } from "./command.ts";
import { Layout } from "./layout.ts";
import { type TemplateBasis, templateKey } from "./template.ts";

const image = { id: "image-1", files: new Layout("/data").image("image-1") };
const resources = { cpus: 2, memoryMiB: 1536, diskGiB: 10 };
const basis: TemplateBasis = {
  runtime: "claude-code",
  resources,
  image,
  qemu: "7.2",
  accelerator: "tcg",
  cpu: "A",
  kernel: "1",
  counter: { khz: 1, isSteady: false },
};

test("a template fits as long as image, QEMU, processor, accelerator and runtime are the same", () => {
  expect(templateKey({ ...basis, counter: { khz: 2, isSteady: false } })).toBe(templateKey(basis));
  const others: TemplateBasis[] = [
    { ...basis, image: { ...image, id: "image-2" } },
    { ...basis, qemu: "7.3" },
    { ...basis, cpu: "B" },
    { ...basis, kernel: "2" },
    { ...basis, accelerator: "kvm" },
    { ...basis, counter: { khz: 1, isSteady: true } },
    { ...basis, runtime: "opencode" },
    { ...basis, resources: { ...basis.resources, memoryMiB: 3072 } },
  ];
  expect(new Set([basis, ...others].map(templateKey)).size).toBe(others.length + 1);
});

const start: Start = {
  name: "berth-1",
  hardware: { accelerator: "tcg", cpus: 2, memoryMiB: 1536, counter: { khz: 2_400_000, isSteady: true } },
  kernel: "/k",
  initrd: "/i",
  layers: null,
  services: "/s",
  disk: "/data, old/disk",
  memory: { kind: "private", file: "/m" },
  qmpSocket: "/q",
  port: 1234,
  tokenFile: null,
  incoming: "state",
};

/** The value after an option that occurs once. */
function option(args: string[], name: string): string | undefined {
  return args[args.indexOf(name) + 1];
}

test("a machine has its disk, what is the service's to read, one network that reaches nothing, and a sandbox that denies what QEMU does not need", () => {
  const args = qemuArguments(start);
  expect(args.filter((word) => word === "-device")).toHaveLength(3);
  expect(args.filter((word) => word.startsWith("driver=raw,node-name=services,read-only=on"))).toHaveLength(1);
  expect(option(args, "-netdev")).toBe("user,id=net,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:1234-10.0.2.15:7000");
  expect(option(args, "-sandbox")).toBe("on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
  expect(args).toContain("-nodefaults");
  expect(option(args, "-incoming")).toBe("fd:3");
  expect(option(args, "-object")).toBe("memory-backend-file,id=ram,size=1536M,mem-path=/m,share=off");
});

test("a comma in a path is not taken for the end of an option", () => {
  expect(option(qemuArguments(start), "-blockdev")).toContain("file.filename=/data,, old/disk");
});

test("the guest gets the host's clock rate under emulation only", () => {
  expect(option(qemuArguments(start), "-append")).toContain("tsc_early_khz=2400000 tsc=reliable");
  const unsteady = { ...start, hardware: { ...start.hardware, counter: { khz: 800_000, isSteady: false } } };
  expect(option(qemuArguments(unsteady), "-append")).toContain("tsc_early_khz=800000");
  expect(option(qemuArguments(unsteady), "-append")).not.toContain("reliable");
  const kvm = qemuArguments({ ...start, hardware: { ...start.hardware, accelerator: "kvm" } });
  expect(option(kvm, "-append")).not.toContain("tsc");
  expect(option(kvm, "-cpu")).toMatch(/^host,/);
});

test("a guest under KVM gets no virtualization of its own and no performance counters", () => {
  const kvm = qemuArguments({ ...start, hardware: { ...start.hardware, accelerator: "kvm" } });
  expect(option(kvm, "-cpu")!.split(",")).toEqual(expect.arrayContaining(["vmx=off", "svm=off", "pmu=off"]));
});
