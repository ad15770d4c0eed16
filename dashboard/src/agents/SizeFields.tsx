import { Field, Select } from "../ui/Field.tsx";

/** The given part of a machine's size. The rest is the default. */
export interface Size {
  cpus?: number;
  memoryMiB?: number;
  diskGiB?: number;
}

/** Sizes that are offered, within what the API takes. */
const offered = {
  cpus: { label: "Processors", values: [1, 2, 4, 8, 16], word: (count: number) => String(count) },
  memoryMiB: {
    label: "Memory",
    values: [1024, 2048, 4096, 8192, 16384, 32768, 65536],
    word: (mib: number) => `${mib / 1024} GiB`,
  },
  diskGiB: { label: "Disk", values: [10, 20, 50, 100, 200, 500, 1000], word: (gib: number) => `${gib} GiB at most` },
} as const;
type Part = keyof typeof offered;
const parts = Object.keys(offered) as Part[];

/** The machine's size, folded: hardly anybody needs another. */
export function SizeFields({ size, onChange }: { size: Size; onChange: (size: Size) => void }) {
  const change = (part: Part, value: string) => {
    const { [part]: _, ...others } = size;
    onChange(value === "" ? others : { ...others, [part]: Number(value) });
  };
  return (
    <details>
      <summary className="w-fit cursor-pointer rounded text-sm font-medium">Size of its machine</summary>
      <div className="mt-3 grid gap-3">
        <div className="grid max-w-xl gap-3 sm:grid-cols-3">
          {parts.map((part) => (
            <Field key={part} label={offered[part].label}>
              {(props) => (
                <Select {...props} value={size[part] ?? ""} onChange={(event) => change(part, event.target.value)}>
                  <option value="">The usual</option>
                  {offered[part].values.map((value) => (
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
          Only the default size starts within a second: another boots from its disk. It cannot be changed later.
        </p>
      </div>
    </details>
  );
}
