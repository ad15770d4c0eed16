const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, maximumFractionDigits: 6 });
const large = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** Credits as people read them: `1,000`, `12.5`, `0.00213`. */
export function credits(decimal: string): string {
  const value = Number(decimal);
  return Math.abs(value) >= 1 || value === 0 ? large.format(value) : small.format(value);
}
