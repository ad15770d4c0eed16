import { Menu } from "@base-ui/react/menu";
import type { Agent } from "@berth/client";
import { Ellipsis } from "lucide-react";
import { buttonClasses } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { menuItem } from "../ui/menu-item.ts";
import { useAct } from "./AgentActions.tsx";
import { actions, useAllowedActions } from "./actions.ts";

/** A button that opens the agent's actions. Nothing for a person who may do none of them. */
export function AgentMenu({ agent }: { agent: Agent }) {
  const act = useAct();
  const allowed = useAllowedActions()(agent);
  if (allowed.length === 0) return null;
  return (
    <Menu.Root>
      <Menu.Trigger aria-label={`Actions for ${agent.name}`} className={buttonClasses("quiet", "!px-2")}>
        <Ellipsis className="size-5" aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className="grid min-w-52 gap-0.5 rounded-xl border bg-raised p-1.5 shadow-lg">
            {allowed.map((action) => (
              <Menu.Item
                key={action}
                className={classes(menuItem, action === "delete" && "text-bad")}
                onClick={() => act(action, agent.name)}
              >
                {actions[action].label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
