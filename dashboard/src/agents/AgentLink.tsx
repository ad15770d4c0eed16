import { Link } from "@tanstack/react-router";

export function AgentLink({ name }: { name: string }) {
  return (
    <Link to="/agents/$name" params={{ name }} className="font-medium hover:underline">
      {name}
    </Link>
  );
}
