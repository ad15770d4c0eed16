import type { Notification } from "./channel.ts";

/** A mail without its addresses. */
export interface MailText {
  /** Null: each mail is another one. */
  id: string | null;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
}

/** No automatic answers to it (RFC 3834). */
const automatic = { "Auto-Submitted": "auto-generated" };

/** `unsubscribe`: an address that turns mail off when it is called by POST (RFC 8058). */
export function notificationMail(notification: Notification, base: string, unsubscribe: string): MailText {
  const { id, title, body, url, reply } = notification;
  const link = base + url;
  const settings = `${base}/-/notifications`;
  const why = "You get this mail because of your notification settings:";
  return {
    id,
    subject: title,
    text: [body, ...(reply === null ? [] : [reply]), link, `${why}\n${settings}`].join("\n\n"),
    html: [
      ...body.split("\n").map((line) => `<p>${escaped(line)}</p>`),
      ...(reply === null ? [] : [`<pre style="white-space:pre-wrap;font:inherit">${escaped(reply)}</pre>`]),
      `<p><a href="${escaped(link)}">Open in Berth</a></p>`,
      `<p><small>${why} <a href="${escaped(settings)}">${escaped(settings)}</a></small></p>`,
    ].join("\n"),
    headers: {
      ...automatic,
      "List-Unsubscribe": `<${unsubscribe}>`,
      ...(unsubscribe.startsWith("https:") && { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
    },
  };
}

/** Contains nothing that a person chose: it goes to an address that may be another's. */
export function linkMail(link: string): MailText {
  const why = "A person who uses Berth wants to get notifications at this address. To confirm it, open:";
  const otherwise = "The link works once and for 24 hours. If it was not you, ignore this mail.";
  return {
    id: null,
    subject: "Confirm your e-mail address",
    text: [why, link, otherwise].join("\n\n"),
    html: `<p>${why}</p>\n<p><a href="${escaped(link)}">${escaped(link)}</a></p>\n<p>${otherwise}</p>`,
    headers: automatic,
  };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
