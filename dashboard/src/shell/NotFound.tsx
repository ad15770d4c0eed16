import { Link } from "@tanstack/react-router";
import { buttonClasses } from "../ui/Button.tsx";
import { Empty } from "../ui/Notice.tsx";

export function NotFound() {
  return (
    <div className="grid gap-4 p-6">
      <h1 className="sr-only">Not found</h1>
      <Empty
        title="There is no such page"
        action={
          <Link to="/" className={buttonClasses("primary")}>
            Home
          </Link>
        }
      />
    </div>
  );
}
