import { CircleCheck, CircleMinus, Hourglass } from "lucide-react";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { Badge } from "../ui/Badge.tsx";
import { Field, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Submit } from "../ui/Submit.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";
import { Folded } from "./Folded.tsx";
import { Block } from "./ToolCall.tsx";
import type { FunctionPart } from "./turn-state.ts";

/** A call that the turn's client answers. While it waits, whoever looks can answer it too. */
export function FunctionCall({ agent, call }: { agent: string; call: FunctionPart }) {
  const { name, isWaiting, output } = call;
  const mayUse = useMay("use");
  const isAnswered = output !== undefined;
  const Icon = isWaiting ? Hourglass : isAnswered ? CircleCheck : CircleMinus;
  return (
    <Folded
      icon={
        <Icon
          className={`size-4 shrink-0 ${isWaiting ? "text-warn" : isAnswered ? "text-good" : "text-muted"}`}
          aria-hidden
        />
      }
      title={name}
      aside={isWaiting ? <WaitsBadge /> : isAnswered ? "answered by the client" : "a function of the client"}
    >
      <Block label="Arguments" value={readable(call.arguments)} />
      {isAnswered && <Block label="Result" value={output} />}
      {isWaiting && mayUse && <Answer agent={agent} call={call} />}
    </Folded>
  );
}

function WaitsBadge() {
  return (
    <Badge tone="warn" isLive>
      waiting for its result
    </Badge>
  );
}

function Answer({ agent, call: { callId, name } }: { agent: string; call: FunctionPart }) {
  const [output, setOutput] = useState("");
  const give = useAction(() =>
    berth.connection.call("createResponse", {
      body: {
        model: agent,
        input: [{ type: "function_call_output", call_id: callId, output }],
        background: true,
        store: false,
      },
    }),
  );
  return (
    <Form of={give} onSubmit={() => give.run()}>
      <Field
        label={`Result of ${name}`}
        hint="The client program provides it. If it has disconnected, you can. A turn waits for half an hour."
      >
        {(props) => (
          <TextArea
            {...props}
            rows={3}
            value={output}
            onChange={(event) => setOutput(event.target.value)}
            className="font-mono text-[13px]"
          />
        )}
      </Field>
      <Submit of={give} isChanged={output !== ""} isRepeatable done="Sent">
        Give the result
      </Submit>
    </Form>
  );
}

/** JSON with its fields on lines of their own. */
function readable(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
