import { EmptyView } from "../ui/View.tsx";

export function NotFound() {
  return (
    <EmptyView title="Page not found" to="/" label="Home">
      There is nothing at this address.
    </EmptyView>
  );
}
