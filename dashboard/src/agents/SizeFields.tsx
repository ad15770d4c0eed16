import { useQuery } from "@tanstack/react-query";
import { accountQuery, capacityQuery } from "../api/queries.ts";
import { Field, Select } from "../ui/Field.tsx";

/** The given part of a machine's size. The rest is the default. */
export interface Size {
  cpus?: number;
  memoryMiB?: number;
  diskGiB?: number;
}

/** Sizes that are offered, within what the API takes. */
const offered = {
  cpus: { label: "Processors", usual: "2", values: [1, 2, 4, 8, 16], word: (count: number) => String(count) },
  memoryMiB: {
    label: "Memory",
    usual: "what the runtime needs",
    values: [1024, 2048, 4096, 8192, 16384, 32768, 65536],
    word: (mib: number) => `${mib / 1024} GiB`,
  },
  diskGiB: {
    label: "Disk",
    usual: "10 GiB",
    values: [10, 20, 50, 100, 200, 500, 1000],
    word: (gib: number) => `up to ${gib} GiB`,
  },
} as const;
type Part = keyof typeof offered;
const parts = Object.keys(offered) as Part[];

/** The memory of all machines of the host, in MiB. Only operators may know it; infinite for others. */
function useMemoryLimit(): number {
  const { data: account } = useQuery(accountQuery);
  const { data: capacity } = useQuery({ ...capacityQuery, enabled: account?.operator === true });
  return capacity?.memoryMiB.limit ?? Number.POSITIVE_INFINITY;
}

/** The machine's size, folded: hardly anybody needs another. */
export function SizeFields({ size, onChange }: { size: Size; onChange: (size: Size) => void }) {
  const limit = useMemoryLimit();
  const fits = (part: Part, value: number) => part !== "memoryMiB" || value <= limit;
  const change = (part: Part, value: string) => {
    const { [part]: _, ...others } = size;
    onChange(value === "" ? others : { ...others, [part]: Number(value) });
  };
  return (
    <details>
      <summary className="w-fit cursor-pointer rounded text-sm font-medium">Machine size</summary>
      <div className="mt-3 grid gap-3">
        <div className="grid max-w-xl gap-3 sm:grid-cols-3">
          {parts.map((part) => (
            <Field key={part} label={offered[part].label}>
              {(props) => (
                <Select {...props} value={size[part] ?? ""} onChange={(event) => change(part, event.target.value)}>
                  <option value="">Default ({offered[part].usual})</option>
                  {offered[part].values
                    .filter((value) => fits(part, value))
                    .map((value) => (
                      <option key={value} value={value}>
                        {offered[part].word(value)}
                      </option>
                    ))}
                </Select>
              )}
            </Field>
          ))}
        </div>
        <p className="text-sm text-muted">
          Other sizes take longer to start. The size can't be changed later.
          {Number.isFinite(limit) && ` All machines of this server share ${(limit / 1024).toFixed(1)} GiB of memory.`}
        </p>
      </div>
    </details>
  );
}
