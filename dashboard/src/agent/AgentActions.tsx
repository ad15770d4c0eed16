import { useQueryClient } from "@tanstack/react-query";
import { useMatchRoute, useNavigate } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext, useState } from "react";
import { berth, isRefusal } from "../api/client.ts";
import { agentQuery, agentsQuery, runningQuery } from "../api/queries.ts";
import { useCreate } from "../conversation/use-conversations.ts";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { messageOf } from "../ui/message.ts";
import { useAction } from "../ui/use-action.ts";
import { type ActionName, actions } from "./actions.ts";
import { ForkDialog } from "./ForkDialog.tsx";

type Act = (action: ActionName, agent: string) => void;

const Context = createContext<Act>(() => {});

/** Returns what does an action of `actions.ts`, once its dialog is confirmed if it has one. */
export function useAct(): Act {
  return useContext(Context);
}

interface Asked {
  action: ActionName;
  agent: string;
}

/** Does actions for all views, and has their dialogs, which outlive the menu or palette that they are chosen in. */
export function AgentActions({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const direct = useAction(useDirectly());
  const act: Act = (action, agent) => {
    setAsked({ action, agent });
    if (isDirect(action)) direct.run(action, agent);
  };
  const close = () => setAsked(null);
  return (
    <Context value={act}>
      {children}
      {asked?.action === "restart" && <RestartDialog name={asked.agent} onClose={close} />}
      {asked?.action === "delete" && <DeleteDialog name={asked.agent} onClose={close} />}
      {asked?.action === "fork" && <ForkDialog source={asked.agent} snapshot={null} onClose={close} />}
      <Dialog
        isOpen={asked !== null && isDirect(asked.action) && direct.error !== null}
        onClose={close}
        title={asked === null ? "" : `${asked.agent}: “${actions[asked.action].label}” failed`}
        description={messageOf(direct.error)}
      >
        <Button className="justify-self-end" onClick={close}>
          Close
        </Button>
      </Dialog>
    </Context>
  );
}

type Direct = Exclude<ActionName, "restart" | "fork" | "delete">;

/** Whether an action needs no question. */
function isDirect(action: ActionName): action is Direct {
  return action !== "restart" && action !== "fork" && action !== "delete";
}

/** Returns what does the actions that need no question. */
function useDirectly() {
  const queries = useQueryClient();
  const create = useCreate();
  return async (action: Direct, agent: string) => {
    if (action === "create") return create(agent, null);
    if (action === "interrupt") await interrupt(agent, await queries.fetchQuery({ ...runningQuery, staleTime: 0 }));
    else await berth.agent(agent)[action]();
    await Promise.all([
      queries.invalidateQueries({ queryKey: agentQuery(agent).queryKey, exact: true }),
      queries.invalidateQueries({ queryKey: agentsQuery.queryKey, exact: true }),
    ]);
  };
}

/** A turn that has ended in the same moment is no failure. */
async function interrupt(agent: string, running: readonly { id: string; agent: string }[]): Promise<void> {
  const turn = running.find((each) => each.agent === agent);
  if (!turn) return;
  try {
    await berth.agent(agent).cancel(turn.id);
  } catch (error) {
    if (!isRefusal(error, "turn_finished")) throw error;
  }
}

interface DialogProps {
  name: string;
  onClose: () => void;
}

function RestartDialog({ name, onClose }: DialogProps) {
  const queries = useQueryClient();
  const restart = async () => {
    await berth.agent(name).restart();
    await queries.invalidateQueries({ queryKey: agentQuery(name).queryKey });
  };
  return (
    <ConfirmDialog isOpen onClose={onClose} title={`Restart ${name}?`} action="Restart" onConfirm={restart}>
      Programs running in its machine and a running turn end. Its files are kept.
    </ConfirmDialog>
  );
}

/** Deletes the agent, once its name is typed. */
function DeleteDialog({ name, onClose }: DialogProps) {
  const navigate = useNavigate();
  const match = useMatchRoute();
  const queries = useQueryClient();
  const remove = async () => {
    await berth.agent(name).delete();
    if (match({ to: "/agents/$name", params: { name }, fuzzy: true }))
      await navigate({ to: "/agents", ignoreBlocker: true });
    queries.removeQueries({ queryKey: agentQuery(name).queryKey });
    await queries.invalidateQueries({ queryKey: agentsQuery.queryKey, exact: true });
  };
  return (
    <ConfirmDialog isOpen onClose={onClose} title={`Delete ${name}?`} action="Delete" word={name} onConfirm={remove}>
      Its machine and all its files are deleted. This cannot be undone.
    </ConfirmDialog>
  );
}
