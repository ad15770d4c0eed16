import type { Provider } from "oidc-provider";
import { html, page, pageHeaders } from "./html.ts";
import { answer, type Context, of, readForm, redirect, type SignInAction } from "./page-requests.ts";
import { isLoopback } from "./program-clients.ts";

interface ConsentParts {
  provider: Provider;
  /** The path at which the provider is mounted. */
  mount: string;
  record: (action: SignInAction) => Promise<void>;
}

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** Asks whether a program may act as the user. Shows the program's name and the target of its redirect. */
export async function showConsent(ctx: Context, { provider, mount }: ConsentParts, asked: Interaction): Promise<void> {
  const client = await provider.Client.find(String(asked.params.client_id));
  const target = URL.parse(String(asked.params.redirect_uri));
  if (!client || !target) return answer(ctx, 400, consentGone());
  // Browsers apply `form-action` to redirects of a form's response as well.
  ctx.set("content-security-policy", formsTo(target));
  const [name, owner] = [client.clientName ?? "A program", ownerOf(client.clientId)];
  answer(ctx, 200, consentPage({ action: mount + ctx.path, name, owner, target: placeOf(target) }));
}

/** Records the user's decision, and redirects the browser to the program. */
export async function decideConsent(ctx: Context, parts: ConsentParts, asked: Interaction): Promise<void> {
  const form = await readForm(ctx);
  if (!form) return;
  const { provider, record } = parts;
  const accountId = asked.session?.accountId;
  const clientId = String(asked.params.client_id);
  if (accountId === undefined) return answer(ctx, 400, consentGone());
  const isAllowed = form.get("decision") === "allow";
  await record({ ...of(ctx, accountId), operation: "decide on a program", status: isAllowed ? 303 : 403 });
  if (!isAllowed) {
    const refusal = { error: "access_denied", error_description: "The user refused." };
    return redirect(ctx, await provider.interactionResult(ctx.req, ctx.res, refusal));
  }
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope("openid offline_access");
  const consent = { grantId: await grant.save() };
  redirect(ctx, await provider.interactionResult(ctx.req, ctx.res, { consent }, { mergeWithLastSubmission: true }));
}

/** The guarantor of a program's name: the host of its document, or none. */
function ownerOf(clientId: string): string | null {
  return URL.parse(clientId)?.host ?? null;
}

function placeOf(target: URL): string {
  if (isLoopback(target)) return `a program on your computer (${target.host})`;
  return target.protocol === "https:" ? target.host : `the program for ${target.protocol} addresses`;
}

function formsTo({ protocol, origin }: URL): string {
  const source = protocol === "https:" || protocol === "http:" ? origin : protocol;
  return pageHeaders["content-security-policy"]!.replace("form-action 'self'", `form-action 'self' ${source}`);
}

function consentGone(): string {
  return page("This sign-in has ended", html`<p>Return to the program and start again.</p>`);
}

function consentPage(asked: { action: string; name: string; owner: string | null; target: string }): string {
  const { action, name, owner, target } = asked;
  const who =
    owner === null
      ? html`<p>The program chose this name. It is not verified.</p>`
      : html`<p>It is a program of <strong>${owner}</strong>.</p>`;
  return page(
    "Let a program act as you?",
    html`<p><bdi><strong>${name}</strong></bdi> wants to use your agents as you: list and create them, talk to them, run commands
in their machines, and read and change their files. It spends your credits.</p>
${who}
<p>You will be sent to <strong>${target}</strong>.</p>
<p>If you did not start this, refuse.</p>
<form method="post" action="${action}">
<button name="decision" value="allow">Allow</button>
<button class="second" name="decision" value="refuse">Refuse</button>
</form>`,
  );
}
