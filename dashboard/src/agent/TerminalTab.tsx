import { ApiError, outputBytes } from "@berth/client";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal as Screen } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef, useState } from "react";
import { berth, inWorkspace } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { useAgentName } from "./agent-name.ts";
import { withConstructedStyles } from "./constructed-styles.ts";

/** A shell in the agent's machine. A returning user finds the same one. */
export function TerminalTab() {
  const name = useAgentName();
  const [opened, setOpened] = useState(0);
  return <Shell key={`${name} ${opened}`} name={name} onAgain={() => setOpened(opened + 1)} />;
}

function Shell({ name, onAgain }: { name: string; onAgain: () => void }) {
  const host = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState<string | null>("Opening…");
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    const screen = newScreen();
    const fit = new FitAddon();
    screen.loadAddon(fit);
    withConstructedStyles(() => screen.open(host.current!));
    fit.fit();
    screen.focus();
    const resized = new ResizeObserver(() => fit.fit());
    resized.observe(host.current!);
    run(name, screen, abort.signal, setSaid)
      .then(
        (end) => setSaid(end),
        (error: unknown) => setSaid(messageOf(error)),
      )
      .finally(() => abort.signal.aborted || setOver(true));
    return () => {
      abort.abort();
      resized.disconnect();
      screen.dispose();
    };
  }, [name]);
  return (
    <div className="flex min-h-64 flex-1 flex-col gap-2 p-3 md:p-4">
      {said !== null && <Notice action={isOver && <Button onClick={onAgain}>Open another</Button>}>{said}</Notice>}
      <div ref={host} className="min-h-0 flex-1 overflow-hidden rounded-xl bg-[#0b0d10] p-2" />
    </div>
  );
}

function newScreen(): Screen {
  return new Screen({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--font-mono"),
    fontSize: 13,
    cursorBlink: true,
    scrollback: 10_000,
    screenReaderMode: true,
    theme: { background: "#0b0d10", foreground: "#eceef1" },
  });
}

/** Carries keys and output until the shell ends. Returns what is to be said of its end. */
async function run(
  name: string,
  screen: Screen,
  signal: AbortSignal,
  say: (text: string | null) => void,
): Promise<string> {
  const kept = inWorkspace(`terminal ${name}`);
  const session = sessionStorage.getItem(kept);
  const { cols, rows } = screen;
  const terminal = berth.agent(name).terminal({
    cols,
    rows,
    signal,
    ...(session === null ? {} : { session }),
    onBroken: () => say("The connection broke. Reconnecting…"),
  });
  const listening = [
    screen.onData((text) => terminal.write(text)),
    screen.onResize((size) => terminal.resize(size.cols, size.rows)),
  ];
  try {
    for await (const event of terminal) {
      say(null);
      if (terminal.session !== null) sessionStorage.setItem(kept, terminal.session);
      screen.write(outputBytes(event));
    }
    sessionStorage.removeItem(kept);
    return "The shell has ended.";
  } catch (error) {
    // A user who only leaves the view, or has lost the service, finds the shell again.
    if (error instanceof ApiError) sessionStorage.removeItem(kept);
    throw error;
  } finally {
    for (const each of listening) each.dispose();
  }
}
