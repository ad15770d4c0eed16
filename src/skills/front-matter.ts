import { parseDocument } from "yaml";
import { z } from "zod";
import { maximumSkillMetadata, maximumSkillToolName, maximumSkillTools, SkillName } from "../contract/skills.ts";
import { limitedRecord, safeParseValue, textOf } from "../contract/validation.ts";
import { instructionsFile, invalid, type SkillBytes } from "./files.ts";

/** The fields of a SKILL.md. */
export interface FrontMatter {
  name: string;
  description: string;
  license: string | null;
  compatibility: string | null;
  metadata: Record<string, string>;
  allowedTools: string[];
}

const maximumBytes = 16 * 1024;

const tools = `allowed-tools has up to ${maximumSkillTools} tools of up to ${maximumSkillToolName} characters.`;

/** https://agentskills.io/specification. As in the reference validator, a field that it does not have is an error. */
const Fields = z.strictObject({
  name: SkillName,
  description: z
    .string()
    .trim()
    .min(1, "description is required.")
    .max(1_024, "description has up to 1,024 characters."),
  license: z.string().max(1_000, "license has up to 1,000 characters.").optional(),
  compatibility: z.string().min(1).max(500, "compatibility has up to 500 characters.").optional(),
  metadata: limitedRecord(z.string().max(200), z.string().max(2_000), maximumSkillMetadata).optional(),
  "allowed-tools": z
    .union([z.string().transform(toolsIn), z.array(z.string())])
    .pipe(z.array(z.string().min(1).max(maximumSkillToolName, tools)).max(maximumSkillTools, tools))
    .optional(),
});

/** Reads the YAML at the beginning of a SKILL.md. Throws `skill_invalid`. */
export function frontMatterOf(files: readonly SkillBytes[]): FrontMatter {
  const file = files.find(({ path }) => path === instructionsFile)!;
  const text = textIn(file.bytes);
  const [, yaml] = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, maximumBytes)) ?? [];
  if (yaml === undefined)
    throw invalid(
      `${instructionsFile} does not begin with front matter: lines of YAML, up to 16 KiB, between two lines ---`,
    );
  const parsed = safeParseValue(Fields, parse(yaml));
  if (!parsed.success) throw invalid(`${instructionsFile}: ${textOf(parsed.issues).replace(/\.$/, "")}`);
  const { name, description, license, compatibility, metadata, "allowed-tools": allowedTools } = parsed.data;
  return {
    name,
    description,
    license: license ?? null,
    compatibility: compatibility ?? null,
    metadata: metadata ?? {},
    allowedTools: allowedTools ?? [],
  };
}

function textIn(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid(`${instructionsFile} is not UTF-8`);
  }
}

/** All values are texts, whatever they look like. Aliases are refused, since they multiply what they name. */
function parse(yaml: string): unknown {
  try {
    const document = parseDocument(yaml, { schema: "failsafe", logLevel: "silent" });
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    const [line] = (error as Error).message.split("\n");
    throw invalid(`the front matter of ${instructionsFile} is not YAML: ${line!.slice(0, 200).replace(/[.:]$/, "")}`);
  }
}

/** Tools are separated by spaces or commas, which `Bash(git add *)` may have in its parentheses. */
function toolsIn(text: string): string[] {
  return text.match(/(?:\([^()]*\)|[^\s,()]|[()])+/g) ?? [];
}
