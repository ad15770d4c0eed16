import { Component, type ReactNode } from "react";

/** Shows a text as it is where its Markdown is more than can be shown: nested without end, say. */
export class PlainOnFailure extends Component<{ text: string; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return <p className="prose whitespace-pre-wrap wrap-anywhere">{this.props.text}</p>;
  }
}
