import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf } from "../terminal.ts";
import { LineEditor, type Motion } from "./line-editor.ts";

function editor(text: string): LineEditor {
  const made = new LineEditor();
  made.set(text);
  return made;
}

const family = "👨‍👩‍👧";

test("a character as people count them is one for every key", () => {
  const made = editor(`a${family}e\u0301`);
  made.move("left");
  made.insert("|");
  expect(made.text).toBe(`a${family}|e\u0301`);
  made.erase("left");
  made.erase("left");
  expect(made.text).toBe("ae\u0301");
  made.erase("right");
  expect(made.text).toBe("a");
});

test("words, lines and their ends", () => {
  const made = editor("one two-three\nfour");
  expect(made.up()).toBe(true);
  made.insert("^");
  expect(made.text).toBe("one ^two-three\nfour");
  made.move("wordRight");
  made.erase("end");
  expect(made.text).toBe("one ^two\nfour");
  made.erase("wordLeft");
  expect(made.text).toBe("one ^\nfour");
  made.move("home");
  expect(made.up()).toBe(false);
  expect(made.down()).toBe(true);
  expect(made.down()).toBe(false);
  made.erase("home");
  made.move("end");
  made.insert("\\");
  expect(made.continueLine()).toBe(true);
  expect(made.text).toBe("one ^\nfour\n");
});

test("what is shown has the cursor, whatever is done", () => {
  const motion = fc.constantFrom<Motion[]>("left", "right", "wordLeft", "wordRight", "home", "end");
  const action = fc.oneof(
    motion.map((to) => (made: LineEditor) => made.move(to)),
    motion.map((to) => (made: LineEditor) => made.erase(to)),
    fc
      .constantFrom("x", "日", family, "\n", " ", "\t", "e\u0301")
      .map((text) => (made: LineEditor) => made.insert(text)),
    fc.constant((made: LineEditor) => made.up()),
    fc.constant((made: LineEditor) => made.down()),
  );
  fc.assert(
    fc.property(
      fc.array(action, { maxLength: 60 }),
      fc.integer({ min: 4, max: 20 }),
      fc.integer({ min: 1, max: 6 }),
      (done, width, rows) => {
        const made = new LineEditor();
        for (const each of done) {
          each(made);
          const view = made.view(width, rows);
          expect(view.rows.length).toBeGreaterThan(0);
          expect(view.rows.length).toBeLessThanOrEqual(rows);
          expect(view.cursor.row).toBeGreaterThanOrEqual(0);
          expect(view.cursor.row).toBeLessThan(view.rows.length);
          expect(view.cursor.column).toBeLessThan(width);
          for (const row of view.rows) expect(columnsOf(row)).toBeLessThanOrEqual(width);
        }
      },
    ),
  );
});
