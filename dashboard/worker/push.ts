// The dashboard's service worker. It shows the notifications that a push service delivers, and opens what they are about.

declare const self: ServiceWorkerGlobalScope;

/** What the server sends (src/push/push.ts). */
interface Message {
  title: string;
  body: string;
  /** A path of the dashboard. */
  url: string;
  tag: string;
  /** What pages close it by (dashboard/src/notifications/use-close-read.ts). */
  workspaceId: string;
  items: readonly string[];
}

self.addEventListener("install", () => void self.skipWaiting());

self.addEventListener("push", (event) => {
  const { title, body, tag, ...data } = event.data!.json() as Message;
  event.waitUntil(self.registration.showNotification(title, { body, tag, data }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const data = event.notification.data as Pick<Message, "url"> | string;
  // Earlier versions kept the address alone.
  event.waitUntil(show(new URL(typeof data === "string" ? data : data.url, self.location.origin)));
});

/** Goes to the tab that shows the address, or opens one. */
async function show({ href, origin, pathname }: URL): Promise<void> {
  if (origin !== self.location.origin) return;
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find(({ url }) => new URL(url).pathname === pathname);
  await (tab ? tab.focus() : self.clients.openWindow(href));
}
