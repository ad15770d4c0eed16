import { Link } from "@tanstack/react-router";
import { buttonClasses } from "../ui/Button.tsx";
import { Empty } from "../ui/Notice.tsx";

export function NotFound() {
  return (
    <div className="mx-auto grid w-full max-w-5xl gap-4 px-4 py-6 md:px-8">
      <h1 className="sr-only">Not found</h1>
      <Empty
        title="Page not found"
        action={
          <Link to="/" className={buttonClasses("primary")}>
            Home
          </Link>
        }
      />
    </div>
  );
}
