import { type ClipboardEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { FilesProps } from "./FileInputs.tsx";
import { SuggestionList } from "./SuggestionList.tsx";
import { useHistory } from "./use-history.ts";
import { useSuggestions } from "./use-suggestions.ts";

interface FieldProps extends FilesProps {
  agent: string;
  text: string;
  sent: readonly string[];
  onText: (text: string) => void;
  placeholder: string;
  onSend: () => void;
  onSteer: () => void;
}

const hasTouch = matchMedia("(pointer: coarse)").matches;

/**
 * A text of several lines, which Enter sends, and Ctrl-Enter to the running turn. `@` suggests files of the agent, and `/` at
 * its start what can be done with the agent.
 */
export function MessageField({ agent, placeholder, text, sent, onText, onFiles, onSend, onSteer }: FieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const [caret, setCaret] = useState(text.length);
  const write = (next: string, at: number) => {
    onText(next);
    setCaret(at);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };
  const suggestions = useSuggestions(agent, { text, caret, write });
  const recall = useHistory(sent, text, onText);
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (suggestions.press(event) || recall(event)) return event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) onSteer();
    else onSend();
  };
  const paste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    onFiles([...event.clipboardData.files]);
  };
  // Resume editing the restored draft. On a phone the keyboard would cover half of a conversation that was only opened.
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each edit, not at each key
  useEffect(() => {
    if ((document.activeElement === document.body && !hasTouch) || document.activeElement?.closest("article, ol"))
      field.current?.focus();
  }, [text]);
  return (
    <div className="relative flex min-w-0 flex-1">
      {suggestions.isOpen && <SuggestionList id={list} suggestions={suggestions} />}
      <textarea
        ref={field}
        aria-label={`Message to ${agent}`}
        aria-autocomplete="list"
        aria-controls={suggestions.isOpen ? list : undefined}
        aria-activedescendant={suggestions.isOpen ? `${list}-${suggestions.active}` : undefined}
        placeholder={placeholder}
        value={text}
        rows={1}
        onChange={({ target }) => {
          onText(target.value);
          setCaret(target.selectionStart);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onBlur={suggestions.close}
        onPaste={paste}
        onKeyDown={press}
        className="field-sizing-content max-h-[40vh] min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 text-base outline-none placeholder:text-muted md:text-[15px]"
      />
    </div>
  );
}
