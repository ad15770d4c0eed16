import type { Code, Construct, Effects, Extension, State, TokenizeContext } from "micromark-util-types";

// Those of `micromark-extension-math`.
declare module "micromark-util-types" {
  interface TokenTypeMap {
    mathText: "mathText";
    mathTextData: "mathTextData";
    mathTextSequence: "mathTextSequence";
  }
}

const backslash = 92;
/** The closing bracket of each opening one. */
const closings: Readonly<Record<number, number>> = { 40: 41, 91: 93 };

/** Texts that have an opening bracket without a closing one, by the closing one: what follows is not looked at again. */
const unclosed = new WeakMap<TokenizeContext, Set<number>>();

/** Maths between `\(` and `\)`, or `\[` and `\]`, as models write it. */
export const texBrackets: Extension = { text: { [backslash]: { name: "texBrackets", tokenize } satisfies Construct } };

function tokenize(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const failed = unclosed.get(this) ?? new Set();
  unclosed.set(this, failed);
  let closing = 0;

  const start: State = (code) => {
    effects.enter("mathText");
    effects.enter("mathTextSequence");
    effects.consume(code);
    return open;
  };
  const open: State = (code) => {
    closing = closings[code ?? 0] ?? 0;
    if (closing === 0 || failed.has(closing)) return nok(code);
    effects.consume(code);
    effects.exit("mathTextSequence");
    return between;
  };
  const between: State = (code) => {
    if (code === null) {
      failed.add(closing);
      return nok(code);
    }
    if (isLineEnding(code)) {
      effects.enter("lineEnding");
      effects.consume(code);
      effects.exit("lineEnding");
      return between;
    }
    if (code === backslash) return effects.attempt({ tokenize: close, partial: true }, ok, data)(code);
    return data(code);
  };
  const data: State = (code) => {
    effects.enter("mathTextData");
    return code === backslash ? escaped(code) : inside(code);
  };
  const inside: State = (code) => {
    if (code === null || code === backslash || isLineEnding(code)) {
      effects.exit("mathTextData");
      return between(code);
    }
    effects.consume(code);
    return inside;
  };
  /** A backslash and what follows it: the second of two begins no bracket. */
  const escaped: State = (code) => {
    effects.consume(code);
    return (next) => {
      if (next === null || isLineEnding(next)) return inside(next);
      effects.consume(next);
      return inside;
    };
  };
  function close(this: TokenizeContext, closer: Effects, closed: State, open: State): State {
    return (code) => {
      closer.enter("mathTextSequence");
      closer.consume(code);
      return (next) => {
        if (next !== closing) return open(next);
        closer.consume(next);
        closer.exit("mathTextSequence");
        closer.exit("mathText");
        return closed;
      };
    };
  }
  return start;
}

function isLineEnding(code: Code): boolean {
  return code !== null && code < -2;
}
