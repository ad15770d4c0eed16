/** After a sentence or a line, in any script. */
const ends = /[.!?…]["'”’)\]]*\s|[。！？]|\n/g;

/** The length of a growing text up to the end of its last whole sentence, from a place on. */
export function endOfSentences(text: string, from: number): number {
  let end = from;
  ends.lastIndex = from;
  for (let found = ends.exec(text); found !== null; found = ends.exec(text)) end = ends.lastIndex;
  return end;
}
