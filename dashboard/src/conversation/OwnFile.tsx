import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext, useState } from "react";
import { agentQuery } from "../api/queries.ts";
import { fileQuery } from "../files/file-query.ts";
import { Picture } from "../files/Picture.tsx";
import { childOf } from "../files/paths.ts";
import { Button } from "../ui/Button.tsx";
import { messageOf } from "../ui/message.ts";

/** The folder that relative paths in a text start from. */
export const BaseFolder = createContext("");

/** The agent whose page this is, and the path there; null outside of an agent's pages. */
function useOwnPath(path: string): { agent: string; path: string } | null {
  const { name } = useParams({ strict: false });
  const folder = useContext(BaseFolder);
  if (name === undefined) return null;
  return { agent: name, path: path.startsWith("/") ? path : childOf(folder, path) };
}

interface OwnFileProps {
  path: string;
  children: ReactNode;
}

/** A link to a file of the agent. */
export function OwnFile({ path, children }: OwnFileProps) {
  const own = useOwnPath(path);
  if (own === null) return <>{children}</>;
  return (
    <Link to="/agents/$name/files" params={{ name: own.agent }} search={{ file: own.path }}>
      {children}
    </Link>
  );
}

/** A picture among the agent's files. It is read at once, unless that would wake the machine. */
export function OwnPicture({ path, alt }: { path: string; alt: string }) {
  const own = useOwnPath(path);
  return own === null ? `[${alt || path}]` : <PictureOf agent={own.agent} path={own.path} alt={alt} />;
}

function PictureOf({ agent, path, alt }: { agent: string; path: string; alt: string }) {
  const { data: { status } = {} } = useQuery(agentQuery(agent));
  const [isAsked, setAsked] = useState(false);
  const query = useQuery({
    ...fileQuery(agent, path),
    enabled: isAsked || status === "ready",
    // A later version of the file belongs to another reply.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const label = alt || path;
  if (query.data?.shown.kind === "picture") return <Picture blob={query.data.shown.blob} alt={label} />;
  if (query.isFetching) return <span className="text-muted">[{label}: loading…]</span>;
  if (query.isError || query.data) {
    const reason = query.data ? "it is not a picture" : messageOf(query.error);
    return (
      <span className="text-muted">
        [<OwnFile path={path}>{label}</OwnFile>: {reason}]
      </span>
    );
  }
  return <Button onClick={() => setAsked(true)}>Show {label}</Button>;
}
