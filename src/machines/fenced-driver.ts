import type { Driver } from "./driver.ts";

/** The calls that change a machine or the driver's files. */
export const changing = new Set<string | symbol>([
  "prepare",
  "sweep",
  "create",
  "boot",
  "wake",
  "attach",
  "invalidate",
  "adopting",
  "adopted",
  "keepLog",
  "suspend",
  "snapshot",
  "restore",
  "removeSnapshot",
  "stage",
  "packDisk",
  "stop",
  "endHung",
  "destroy",
  "quarantine",
  "quarantineSnapshot",
  "releaseQuarantined",
  "removeQuarantined",
] satisfies (keyof Driver)[]);

/** A driver that changes nothing unless `confirm` resolves: this server leads the host's machines. */
export function fenced(driver: Driver, confirm: () => Promise<void>): Driver {
  return new Proxy(driver, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      const call = method.bind(target) as (...request: unknown[]) => unknown;
      if (!changing.has(name)) return call;
      return async (...request: unknown[]) => {
        await confirm();
        return call(...request);
      };
    },
  });
}
