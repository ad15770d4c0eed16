import type { Profile } from "@berth/client";
import { useState } from "react";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { Section } from "../ui/View.tsx";
import { ZoneField } from "../ui/ZoneField.tsx";
import { useProfileChange } from "./use-profile-change.ts";

const usual = { from: "22:00", to: "07:00" };

/** The hours in which notifications wait. */
export function QuietTimes({ profile }: { profile: Profile }) {
  const { quietHours, timeZone, effectiveTimeZone } = profile;
  const [hours, setHours] = useState(quietHours);
  const [zone, setZone] = useState(timeZone ?? "");
  const save = useProfileChange();
  return (
    <Section title="Quiet hours">
      <Form onSubmit={() => save.run({ quietHours: hours, timeZone: zone.trim() || null })}>
        <label className="flex w-fit items-center gap-2 text-sm">
          <input
            type="checkbox"
            checked={hours !== null}
            onChange={({ target }) => setHours(target.checked ? usual : null)}
          />
          Notifications wait until quiet hours end, and come as one
        </label>
        <div className="grid items-start gap-4 sm:grid-cols-3">
          {hours &&
            (["from", "to"] as const).map((end) => (
              <Field key={end} label={end === "from" ? "From" : "To"}>
                {(props) => (
                  <Input
                    {...props}
                    type="time"
                    required
                    value={hours[end]}
                    onChange={({ target }) => setHours({ ...hours, [end]: target.value })}
                  />
                )}
              </Field>
            ))}
          <ZoneField value={zone} onChange={setZone} placeholder={effectiveTimeZone} />
        </div>
        <Submit of={save}>Save the quiet hours</Submit>
      </Form>
    </Section>
  );
}
