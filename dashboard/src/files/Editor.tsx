import { useEffect, useEffectEvent, useRef } from "react";
import { CodeEditor, type EditorOptions } from "./code-editor.ts";

interface EditorProps extends EditorOptions {
  /** Called with the editor that is in the page; null: it has left. */
  onEditor: (editor: CodeEditor | null) => void;
}

/** The place of a `CodeEditor`, which begins with these options. */
export function Editor({ onEditor, ...options }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const make = useEffectEvent(() => {
    const editor = new CodeEditor(host.current!, options);
    onEditor(editor);
    return editor;
  });
  const left = useEffectEvent(() => onEditor(null));
  useEffect(() => {
    const editor = make();
    return () => {
      editor.destroy();
      left();
    };
  }, []);
  return <div ref={host} className="h-full" />;
}
