import { Budget, type Held } from "../core/budget.ts";

const mebibyte = 1024 * 1024;

/** The limit on incomplete responses of one machine's guest, in bytes: three of the largest responses. */
const ofMachines = new Budget({ total: Number.POSITIVE_INFINITY, perHolder: 48 * mebibyte });
/** The limit on incomplete responses of an account's guests, so that many machines get no more than others. */
const ofAccounts = new Budget({ total: 256 * mebibyte, perHolder: 96 * mebibyte });

/** A machine whose guest responds. */
export interface Responder {
  machine: string;
  /** The account of its agent; null for a machine without an agent. */
  account: () => string | null;
}

/** The bytes of one incomplete response, none at first. */
export function receiving({ machine, account }: Responder): Held {
  const [own, shared] = [ofMachines.take(machine, 0)!, ofAccounts.take(account() ?? machine, 0)!];
  let held = 0;
  return {
    resize: (bytes) => {
      if (!own.resize(bytes)) return false;
      if (!shared.resize(bytes)) {
        own.resize(held);
        return false;
      }
      held = bytes;
      return true;
    },
    [Symbol.dispose]: () => {
      own[Symbol.dispose]();
      shared[Symbol.dispose]();
    },
  };
}
