import type { Role } from "@berth/client";
import type { ComponentProps } from "react";
import { Select } from "../ui/Field.tsx";
import { isWithin, roles } from "../workspace/roles.ts";

interface RoleSelectProps extends Omit<ComponentProps<typeof Select>, "value" | "onChange"> {
  /** The highest that can be chosen. */
  upTo: Role;
  value: Role;
  onChoose: (role: Role) => void;
}

export function RoleSelect({ upTo, onChoose, ...rest }: RoleSelectProps) {
  return (
    <Select {...rest} onChange={({ target }) => onChoose(target.value as Role)}>
      {roles
        .filter((role) => isWithin(role, upTo))
        .map((role) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
    </Select>
  );
}
