import { useEffect, useRef } from "react";
import { Input } from "./Field.tsx";

interface SearchInputProps {
  label: string;
  /** The text in the page's address, which follows some time after what is typed. */
  value: string;
  onChange: (text: string) => void;
}

/** A search whose text is in the page's address. */
export function SearchInput({ label, value, onChange }: SearchInputProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null && input.current !== document.activeElement) input.current.value = value;
  }, [value]);
  return (
    <Input
      ref={input}
      type="search"
      aria-label={label}
      placeholder="Search"
      maxLength={200}
      className="basis-full sm:max-w-64"
      defaultValue={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
