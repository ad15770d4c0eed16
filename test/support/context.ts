import type { AppContext } from "../../src/context.ts";
import type { Stores } from "../../src/stores.ts";

type Parts = { [Name in Exclude<keyof AppContext, "stores">]?: Partial<AppContext[Name]> } & {
  stores?: { [Name in keyof Stores]?: Partial<Stores[Name]> };
};

/** A context of these parts. Reading any other throws, so that a test names all that its subject uses. */
export function contextWith(parts: Parts): AppContext {
  return new Proxy(parts, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name);
      throw new Error(`the test's context has no ${String(name)}`);
    },
  }) as unknown as AppContext;
}
