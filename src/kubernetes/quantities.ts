/** From a quantity of Kubernetes, such as `16306844Ki`; 0 if undefined. */
export function mebibytes(quantity = "0"): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([KMGT]i?|k|m)?$/.exec(quantity) ?? [];
  const bytes: Record<string, number> = {
    m: 0.001,
    k: 1e3,
    K: 1e3,
    M: 1e6,
    G: 1e9,
    T: 1e12,
    Ki: 2 ** 10,
    Mi: 2 ** 20,
    Gi: 2 ** 30,
    Ti: 2 ** 40,
  };
  return (Number(number ?? 0) * (bytes[unit ?? ""] ?? 1)) / 2 ** 20;
}
