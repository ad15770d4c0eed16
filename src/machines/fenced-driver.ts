import type { Driver } from "./driver.ts";
import { changes } from "./driver-calls.ts";

export function fenced(driver: Driver, confirm: () => Promise<void>): Driver {
  return new Proxy(driver, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      const call = method.bind(target) as (...request: unknown[]) => unknown;
      if (!changes(name)) return call;
      return async (...request: unknown[]) => {
        await confirm();
        return call(...request);
      };
    },
  });
}
