import { Zone } from "../automations/zone.ts";
import type { ProfileState } from "./profile.ts";

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** The person's time zone; UTC if it is unknown, or not one that the runtime knows. */
export function zoneOf({ timeZone, signInTimeZone }: Pick<ProfileState, "timeZone" | "signInTimeZone">): string {
  const name = timeZone ?? signInTimeZone ?? "UTC";
  try {
    new Zone(name);
    return name;
  } catch {
    return "UTC";
  }
}

/** The end of the quiet hours that `now` is in, as instants in milliseconds; null: it is in none. */
export function quietUntil(
  profile: Pick<ProfileState, "timeZone" | "signInTimeZone" | "quietHours">,
  now: number,
): number | null {
  const { quietHours } = profile;
  if (quietHours === null) return null;
  const zone = new Zone(zoneOf(profile));
  const wall = now + zone.offsetAt(now);
  const today = wall - modulo(wall, dayMs);
  const [from, to] = [millisecondsOf(quietHours.from), millisecondsOf(quietHours.to)];
  const lengthMs = modulo(to - from, dayMs);
  // Yesterday's may still last. An hour that the clock repeats is quiet both times.
  for (const day of [today - dayMs, today]) {
    const begin = zone.instantOf(day + from);
    const end = zone.instantOf(day + from + lengthMs);
    if (begin <= now && now < end) return end;
  }
  return null;
}

/** Since midnight. */
function millisecondsOf(time: string): number {
  const [hours, minutes] = time.split(":").map(Number) as [number, number];
  return (hours * 60 + minutes) * minuteMs;
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
