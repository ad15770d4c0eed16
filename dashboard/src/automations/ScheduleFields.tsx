import { CountField } from "../ui/CountField.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { useSettled } from "../ui/use-settled.ts";
import { ZoneField } from "../ui/ZoneField.tsx";
import { NextTimes } from "./NextTimes.tsx";
import { days, lineOf, type Repeat, repeats, type Schedule } from "./schedule.ts";

/** How long the next times wait for the next letter. */
const typingMs = 300;

interface ScheduleFieldsProps {
  value: Schedule;
  onChange: (schedule: Schedule) => void;
}

/** When an automation runs, with its next times. */
export function ScheduleFields({ value, onChange }: ScheduleFieldsProps) {
  const { repeat, at, timeZone, day, line } = value;
  const change = (fields: Partial<Schedule>) => onChange({ ...value, ...fields });
  const cron = useSettled(lineOf(value), typingMs);
  const zone = useSettled(timeZone.trim(), typingMs);
  return (
    <div className="grid gap-4">
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field label="Repeats">
          {(props) => (
            <Select {...props} value={repeat} onChange={({ target }) => change({ repeat: target.value as Repeat })}>
              {Object.entries(repeats).map(([each, words]) => (
                <option key={each} value={each}>
                  {words}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {repeat === "weekly" && (
          <Field label="Day">
            {(props) => (
              <Select {...props} value={day} onChange={({ target }) => change({ day: target.value })}>
                {days.map((each, index) => (
                  <option key={each} value={index}>
                    {each}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        {repeat === "once" && (
          <Field label="At">
            {(props) => (
              <Input
                {...props}
                type="datetime-local"
                required
                value={at}
                onChange={({ target }) => change({ at: target.value })}
              />
            )}
          </Field>
        )}
        {repeat === "line" && (
          <Field label="Line of cron" name="trigger.cron" hint="Minute, hour, day of month, month, day of week.">
            {(props) => (
              <Input
                {...props}
                required
                maxLength={200}
                className="font-mono"
                autoComplete="off"
                value={line}
                onChange={({ target }) => change({ line: target.value })}
              />
            )}
          </Field>
        )}
        <TimeOfDay value={value} onChange={change} />
        {repeat !== "once" && (
          <ZoneField name="trigger.timeZone" value={timeZone} onChange={(timeZone) => change({ timeZone })} />
        )}
      </div>
      {repeat !== "once" && cron && zone !== "" && <NextTimes cron={cron} timeZone={zone} />}
    </div>
  );
}

function TimeOfDay({ value, onChange }: { value: Schedule; onChange: (fields: Partial<Schedule>) => void }) {
  const { repeat, time } = value;
  if (repeat === "once" || repeat === "line") return null;
  if (repeat === "hourly") {
    return (
      <CountField
        label="Minute"
        min={0}
        max={59}
        value={String(Number(time.slice(3)))}
        onChange={(minute) => onChange({ time: `00:${minute.slice(0, 2).padStart(2, "0")}` })}
      />
    );
  }
  return (
    <Field label="Time">
      {(props) => (
        <Input
          {...props}
          type="time"
          required
          value={time}
          onChange={({ target }) => onChange({ time: target.value })}
        />
      )}
    </Field>
  );
}
