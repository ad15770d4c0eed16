import { type KeyboardEvent, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { CommentBox } from "./CommentBox.tsx";
import { type Comments, keyOf, placeOf } from "./comments.ts";
import type { Layout } from "./diff-layout.ts";
import { type Hunk, type Line, piecesOf, sidesOf } from "./hunks.ts";
import { cut, visible } from "./visible.ts";

interface DiffProps {
  file: string;
  /** See `Comment`. */
  source: string;
  hunks: readonly Hunk[];
  layout: Layout;
  /** Null for a person who may only read. */
  comments: Comments | null;
}

/** The rows that are shown at first, and that are added at a time. */
const firstRows = 300;
const moreRows = 2_000;

type Row = { header: string } | { left: Line | null; right: Line | null; isFirst: boolean };

/** A file's diff with line numbers. A click on a number, or on a line where fingers are used, opens a comment. */
export function DiffTable({ file, source, hunks, layout, comments }: DiffProps) {
  const [limit, setLimit] = useState(firstRows);
  const rows = rowsOf(hunks, layout);
  const shared = { file, source, comments };
  return (
    <>
      <section aria-label={`Changes of ${visible(file)}`} className="overflow-x-auto" onKeyDown={moveBetweenLines}>
        <table className="w-full border-collapse font-mono text-[13px] leading-5">
          <tbody>
            {rows.slice(0, limit).map((row, at) =>
              "header" in row ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name, and never move
                <tr key={at} className="bg-sunken text-muted">
                  <td colSpan={4} className="px-3 py-0.5">
                    {row.header}
                  </td>
                </tr>
              ) : layout === "split" ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <SplitRow key={at} {...shared} {...row} />
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <UnifiedRow key={at} {...shared} line={(row.left ?? row.right)!} isFirst={row.isFirst} />
              ),
            )}
          </tbody>
        </table>
      </section>
      {rows.length > limit && (
        <div className="border-t p-2 text-center">
          <Button kind="quiet" onClick={() => setLimit(limit + moreRows)}>
            Show {Math.min(moreRows, rows.length - limit).toLocaleString("en")} more lines
          </Button>
        </div>
      )}
    </>
  );
}

function rowsOf(hunks: readonly Hunk[], layout: Layout): Row[] {
  return hunks.flatMap(({ header, lines }) => {
    const pairs = layout === "split" ? sidesOf(lines) : lines.map((line): [Line | null, Line | null] => [line, null]);
    let isContext = true;
    const rows = pairs.map(([left, right]): Row => {
      const wasContext = isContext;
      isContext = (left ?? right)?.sign === " ";
      return { left, right, isFirst: wasContext && !isContext };
    });
    return [{ header }, ...rows];
  });
}

/** The arrow keys move between line numbers. */
function moveBetweenLines(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined || !(event.target instanceof HTMLElement) || !event.target.matches("[data-line]")) return;
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-line]")];
  const next = lines[lines.indexOf(event.target) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

interface RowProps extends Pick<DiffProps, "file" | "source" | "comments"> {
  /** It begins a block of changed lines. */
  isFirst: boolean;
}

const tones = { "+": "bg-good-soft", "-": "bg-bad-soft", " ": "" };
const number = "w-px px-2 text-right align-top text-muted select-none whitespace-nowrap tabular-nums";

function UnifiedRow({ line, isFirst, ...shared }: RowProps & { line: Line }) {
  return (
    <>
      <tr className={tones[line.sign]}>
        <td className={classes(number, "max-sm:hidden")}>
          {line.now === null && <LineNumber {...shared} line={line} of={line.old!} isFirst={isFirst} />}
          {line.sign === " " && line.old}
        </td>
        <td className={classes(number, line.now === null && "max-sm:hidden")}>
          {line.now !== null && <LineNumber {...shared} line={line} of={line.now} isFirst={isFirst} />}
        </td>
        {line.now === null && <td className={classes(number, "sm:hidden")}>{line.old}</td>}
        <Code {...shared} line={line} />
      </tr>
      <CommentRow {...shared} lines={[line]} />
    </>
  );
}

function SplitRow({ left, right, isFirst, ...shared }: RowProps & { left: Line | null; right: Line | null }) {
  const isContext = left !== null && left === right;
  return (
    <>
      <tr>
        <td className={classes(number, left ? tones[left.sign] : "bg-sunken")}>
          {left && !isContext && <LineNumber {...shared} line={left} of={left.old!} isFirst={isFirst} />}
          {left && isContext && left.old}
        </td>
        {left ? <Code {...shared} line={left} isHalf /> : <td className="w-1/2 bg-sunken" />}
        <td className={classes(number, "border-l", right ? tones[right.sign] : "bg-sunken")}>
          {right && <LineNumber {...shared} line={right} of={right.now!} isFirst={isFirst && !left} />}
        </td>
        {right ? <Code {...shared} line={right} isHalf /> : <td className="w-1/2 bg-sunken" />}
      </tr>
      <CommentRow {...shared} lines={isContext ? [left] : [left, right]} />
    </>
  );
}

interface LineProps extends Omit<RowProps, "isFirst"> {
  line: Line;
}

/** The number of a line, which opens a comment on it. Only the first of a block is a stop of the Tab key. */
function LineNumber({ file, source, comments, line, of, isFirst }: LineProps & { of: number; isFirst: boolean }) {
  const change = isFirst ? { "data-change": "" } : {};
  const side = line.now === null ? "removed line" : "line";
  if (!comments)
    return (
      <span {...change} tabIndex={isFirst ? -1 : undefined}>
        {of}
      </span>
    );
  return (
    <>
      <button
        type="button"
        data-line=""
        {...change}
        tabIndex={isFirst ? 0 : -1}
        aria-label={`Comment on ${side} ${of}`}
        title="Comment on this line"
        onClick={() => comments.write(placeOf(source, file, line))}
        className="w-full rounded text-right hover:bg-accent-fill hover:text-white pointer-coarse:hidden"
      >
        {of}
      </button>
      <span className="hidden pointer-coarse:inline">{of}</span>
    </>
  );
}

const hasTouch = matchMedia("(pointer: coarse)").matches;

function Code({ file, source, comments, line, isHalf = false }: LineProps & { isHalf?: boolean }) {
  const { shown, missing } = cut(line.text);
  const pieces = missing > 0 ? [{ text: shown, isChanged: false }] : piecesOf(line);
  const open = comments && hasTouch ? () => comments.write(placeOf(source, file, line)) : undefined;
  const mark = line.sign === "+" ? "bg-good/25" : "bg-bad/25";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the line's number is the button of keyboards
    <td
      dir="ltr"
      onClick={open}
      className={classes("pr-3 pl-1 align-top whitespace-pre-wrap wrap-anywhere", isHalf && "w-1/2", tones[line.sign])}
    >
      <span className="select-none" aria-hidden>
        {line.sign}{" "}
      </span>
      {line.sign !== " " && <span className="sr-only">{line.sign === "+" ? "added: " : "removed: "}</span>}
      <bdi>
        {pieces.map(({ text, isChanged }, at) =>
          isChanged ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and never move
            <mark key={at} className={classes("rounded-sm text-inherit", mark)}>
              {visible(text)}
            </mark>
          ) : (
            visible(text)
          ),
        )}
      </bdi>
      {missing > 0 && <span className="text-muted"> … {missing.toLocaleString("en")} more characters</span>}
      {line.isUnended && <span className="text-muted"> ⟨no line break at the end⟩</span>}
    </td>
  );
}

function CommentRow({ file, source, comments, lines }: Omit<LineProps, "line"> & { lines: readonly (Line | null)[] }) {
  if (!comments || comments.all.length === 0) return null;
  return lines.map((line) => {
    if (!line) return null;
    const place = placeOf(source, file, line);
    const comment = comments.of(place);
    if (!comment) return null;
    return (
      <tr key={keyOf(place)}>
        <td colSpan={4} className="border-y bg-surface p-3 font-sans">
          <CommentBox comment={comment} comments={comments} />
        </td>
      </tr>
    );
  });
}
