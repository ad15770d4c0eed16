import { ApiError } from "@berth/client";
import { createContext, useContext, useEffect } from "react";

interface Issue {
  /** The path of a field of the request, such as `hosts.0`. */
  field: string;
  message: string;
}

interface FormErrors {
  issues: readonly Issue[];
  /** The fields of the request that the form's fields stand for. */
  shown: ReadonlySet<string>;
  show: (field: string) => () => void;
}

export const FormErrors = createContext<FormErrors>({ issues: [], shown: new Set(), show: () => () => {} });

/** The invalid fields of a refused request. */
export function issuesOf(error: unknown): readonly Issue[] {
  if (!(error instanceof ApiError)) return [];
  const { issues } = (error.details ?? {}) as { issues?: readonly Issue[] };
  return Array.isArray(issues) ? issues : [];
}

/** Why the service refused a field of the request; null: it did not. `entry`: the name of one of its values, if it has several. */
export function useFieldError(field: string | undefined, entry: string): string | null {
  const { issues, show } = useContext(FormErrors);
  useEffect(() => (field === undefined ? undefined : show(field)), [field, show]);
  const issue = field === undefined ? undefined : issues.find((each) => isWithin(each.field, field));
  if (issue === undefined) return null;
  const [, index] = /^\.(\d+)/.exec(issue.field.slice(field!.length)) ?? [];
  return index === undefined ? issue.message : `${entry} ${Number(index) + 1}: ${issue.message}`;
}

/** Whether the form's fields say all that is wrong. */
export function useIsShown(): boolean {
  const { issues, shown } = useContext(FormErrors);
  return issues.length > 0 && issues.every(({ field }) => [...shown].some((name) => isWithin(field, name)));
}

function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`);
}
