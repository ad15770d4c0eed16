import type { Profile } from "@berth/client";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useEdits } from "../ui/use-edits.ts";
import { Section } from "../ui/View.tsx";
import { ZoneField } from "../ui/ZoneField.tsx";
import { useProfileChange } from "./use-profile-change.ts";

const usual = { from: "22:00", to: "07:00" };

function hoursOf({ quietHours, timeZone }: Profile) {
  return { hours: quietHours, zone: timeZone ?? "" };
}

/** The hours in which notifications wait. */
export function QuietTimes({ profile }: { profile: Profile }) {
  const { effectiveTimeZone } = profile;
  const edits = useEdits(hoursOf(profile));
  const { hours, zone } = edits.fields;
  const setHours = (next: typeof hours) => edits.change({ hours: next });
  const save = useProfileChange((saved) => edits.settle(hoursOf(saved)));
  return (
    <Section title="Quiet hours">
      <Form of={save} onSubmit={() => save.run({ quietHours: hours, timeZone: zone.trim() || null })}>
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
          <ZoneField
            name="timeZone"
            value={zone}
            onChange={(next) => edits.change({ zone: next })}
            placeholder={effectiveTimeZone}
          />
        </div>
        <Submit of={save} isChanged={edits.isChanged}>
          Save the quiet hours
        </Submit>
      </Form>
    </Section>
  );
}
