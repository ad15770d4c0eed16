/** A credit is counted in whole millionths. */
const microPerCredit = 1_000_000n;

/** Whole micro-credits as a decimal number of credits, without needless zeros: 1500000 → `1.5`. */
export function toCredits(micro: number): string {
  const whole = BigInt(micro);
  const sign = whole < 0n ? "-" : "";
  const size = whole < 0n ? -whole : whole;
  const fraction = String(size % microPerCredit)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${sign}${size / microPerCredit}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Whole micro-credits of a decimal number of credits with six places at most: `1.5` → 1500000, `-0.5` → -500000. */
export function fromCredits(credits: string): number {
  const sign = credits.startsWith("-") ? -1 : 1;
  const [whole, fraction = ""] = credits.replace("-", "").split(".");
  return sign * Number(BigInt(whole!) * microPerCredit + BigInt(fraction.padEnd(6, "0")));
}
