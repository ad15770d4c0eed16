import { createReadStream } from "node:fs";
import { maximumTranscriptLine, TranscriptLine } from "../contract/archives.ts";
import { safeParseValue } from "../contract/validation.ts";
import { fromLines, type ImportedItem } from "../turns/transcript.ts";
import { invalid, parseJson } from "./read.ts";

/** Parses and checks the transcript in a file. Throws `archive_invalid`. `now`: see `fromLines`. */
export function transcriptRows(file: string, now: Date): AsyncGenerator<ImportedItem> {
  return fromLines(parsedLines(file), now);
}

async function* parsedLines(file: string): AsyncGenerator<TranscriptLine> {
  let number = 0;
  for await (const line of linesOf(createReadStream(file))) {
    number++;
    const parsed = safeParseValue(TranscriptLine, parseJson(line, `line ${number} of the transcript`));
    if (!parsed.success) throw invalid(`line ${number} of the transcript is not as it has to be`);
    yield parsed.data;
  }
}

/** Lines, without their ends. Throws `archive_invalid` for one that is too long. */
async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      yield Buffer.concat([...pending, chunk.subarray(start, end)]);
      pending = [];
      size = 0;
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maximumTranscriptLine) throw invalid("a line of the transcript is too long");
  }
  if (size > 0) throw invalid("the transcript ends within a line");
}
