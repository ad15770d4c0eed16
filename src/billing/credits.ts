/** Credits are counted in whole millionths. */
const microPerCredit = 1_000_000n;

/** Formats whole micro-credits as decimal credits without trailing zeros: 1500000 → `1.5`. */
export function toCredits(micro: number): string {
  const whole = BigInt(micro);
  const sign = whole < 0n ? "-" : "";
  const size = whole < 0n ? -whole : whole;
  const fraction = String(size % microPerCredit)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${sign}${size / microPerCredit}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Parses decimal credits with at most six places into micro-credits: `1.5` → 1500000, `-0.5` → -500000. */
export function fromCredits(credits: string): number {
  const sign = credits.startsWith("-") ? -1 : 1;
  const [whole, fraction = ""] = credits.replace("-", "").split(".");
  return sign * Number(BigInt(whole!) * microPerCredit + BigInt(fraction.padEnd(6, "0")));
}
