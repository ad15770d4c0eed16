import type { PushSubscription as StoredSubscription } from "@berth/client";
import { berth } from "../api/client.ts";

/** The id of this browser's subscription. */
const stored = "berth push subscription";

/** The part of https://www.w3.org/TR/trusted-types/ that is used. Browsers accept a `TrustedScriptURL` in place of a string. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL: (text: string) => unknown };
}

/** The page's policy allows only an address of a script that this makes. Older browsers have no such policies. */
const workerAddress =
  (window as { trustedTypes?: TrustedTypes }).trustedTypes
    ?.createPolicy("berth-worker", { createScriptURL: () => "/-/push.js" })
    .createScriptURL("") ?? "/-/push.js";

/** Why this browser cannot show notifications; null: it can. */
export function obstacle(): string | null {
  if (!isSecureContext) return "Browsers show notifications only of pages with https, or at localhost.";
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) {
    return /iPhone|iPad/.test(navigator.userAgent)
      ? "On an iPhone or iPad, add this page to the home screen first."
      : "This browser has no notifications.";
  }
  if (Notification.permission === "denied") {
    return "This browser does not allow notifications of this page. Allow them in the browser's settings of this site.";
  }
  return null;
}

/** This browser's subscription among those of the person; null if it has none. */
export function ofThisBrowser(subscriptions: readonly StoredSubscription[]): StoredSubscription | null {
  const id = localStorage.getItem(stored);
  return subscriptions.find((each) => each.id === id) ?? null;
}

/** Has this browser show the person's notifications. `serverKey`: the server's, by which push services know it. */
export async function subscribe(serverKey: string): Promise<void> {
  // A browser asks the person only in answer to a click.
  if ((await Notification.requestPermission()) !== "granted") {
    throw new Error("This browser does not allow notifications of this page.");
  }
  const { pushManager } = await worker();
  // A subscription with another key of the server cannot be used.
  const before = await pushManager.getSubscription();
  if (before && keyOf(before) !== serverKey) await before.unsubscribe();
  const asked = { userVisibleOnly: true, applicationServerKey: serverKey };
  const made = await pushManager.subscribe(asked).catch((error: Error) => {
    throw new Error(`The browser's push service did not answer: ${error.message}`);
  });
  const { endpoint, keys } = made.toJSON();
  const { p256dh = "", auth = "" } = keys ?? {};
  const { id } = await berth.pushSubscriptions.create({
    endpoint: endpoint!,
    keys: { p256dh, auth },
    name: browserName(),
  });
  localStorage.setItem(stored, id);
}

/** Ends this browser's notifications, here and at the server; `everywhere`: also those of the person's other browsers. */
export async function unsubscribe(everywhere = false): Promise<void> {
  const id = localStorage.getItem(stored);
  localStorage.removeItem(stored);
  if (everywhere) {
    const { data } = await berth.pushSubscriptions.list();
    await Promise.all(data.map((each) => berth.pushSubscriptions.delete(each.id)));
  }
  if (id === null) return;
  const registration = await navigator.serviceWorker.getRegistration("/-/");
  await Promise.allSettled([
    berth.pushSubscriptions.delete(id),
    registration?.pushManager.getSubscription().then((subscription) => subscription?.unsubscribe()),
  ]);
}

async function worker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(workerAddress as string);
  return navigator.serviceWorker.ready;
}

/** In base64url. */
function keyOf({ options }: PushSubscription): string | null {
  const key = options.applicationServerKey;
  if (!key) return null;
  return btoa(String.fromCharCode(...new Uint8Array(key)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Such as "Firefox on Linux". */
function browserName(): string {
  const agent = navigator.userAgent;
  const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari"];
  const systems = ["Android", "iPhone", "iPad", "Windows", "Mac", "Linux"];
  const browser = browsers.find((each) => agent.includes(each)) ?? "Browser";
  const system = systems.find((each) => agent.includes(each));
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera" };
  return `${names[browser] ?? browser}${system ? ` on ${system}` : ""}`;
}
