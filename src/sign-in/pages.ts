import { Html, html, page } from "./html.ts";

// The pages of the built-in identity provider. They need no scripts.

/** The sign-in page. `wrong` says why an attempt failed. */
export function signInPage({ action, name = "", wrong }: { action: string; name?: string; wrong?: string }): string {
  return page(
    "Sign in",
    html`${complaint(wrong)}<form method="post" action="${action}">
<label>Name <input name="name" value="${name}" autocomplete="username" autocapitalize="none" maxlength="64" required${name === "" ? autofocus : null}></label>
<label>Password <input name="password" type="password" autocomplete="current-password" maxlength="200" required${name === "" ? null : autofocus}></label>
<button>Sign in</button>
</form>
<p><small>Forgot your password? Ask your operator for a reset link (berth admin users reset NAME).</small></p>`,
  );
}

/** The page of a one-time link. Without a name it is for the first user, who chooses one. */
export function welcomePage(options: {
  action: string;
  token: string;
  name: string | null;
  wrong?: string | undefined;
  chosen?: string | undefined;
}): string {
  const { action, token, name, wrong, chosen = "" } = options;
  const whose = name === null ? html`<p>You are the operator of this service.</p>` : html`<p>For the user ${name}.</p>`;
  const nameField =
    name === null
      ? html`<label>Name <input name="name" value="${chosen}" autocomplete="username" autocapitalize="none" maxlength="64" required></label>`
      : html`<input type="hidden" name="name" value="${name}" autocomplete="username">`;
  return page(
    name === null ? "Welcome" : "Set your password",
    html`${whose}${complaint(wrong)}<form method="post" action="${action}">
<input type="hidden" name="token" value="${token}">
${nameField}
<label>Password <input name="password" type="password" autocomplete="new-password" minlength="12" maxlength="200" required></label>
<label>Confirm password <input name="again" type="password" autocomplete="new-password" minlength="12" maxlength="200" required></label>
<p><small>At least 12 characters.</small></p>
<button>Set password</button>
</form>`,
  );
}

/** The page for entering the code that the CLI shows. */
export function deviceCodePage(options: {
  action: string;
  xsrf: string;
  code?: string | undefined;
  wrong?: string | undefined;
}): string {
  const { action, xsrf, code = "", wrong } = options;
  return page(
    "Connect a device",
    html`${complaint(wrong)}<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${xsrf}">
<label>Code shown on your device <input class="code" name="user_code" value="${code}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="32" required></label>
<button>Continue</button>
</form>`,
  );
}

/** Asks users to compare the code, because somebody else may have sent them the link. */
export function deviceConfirmPage(options: {
  action: string;
  xsrf: string;
  code: string;
  client: string;
  address: string;
}): string {
  const { action, xsrf, code, client, address } = options;
  return page(
    "Is this your device?",
    html`<p>${client} wants to act as you, from the address ${address}. It must show this code:</p>
<p class="code">${code}</p>
<p>If you did not start this, or it shows a different code, refuse.</p>
<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${xsrf}">
<input type="hidden" name="user_code" value="${code}">
<input type="hidden" name="confirm" value="yes">
<button>Continue</button>
<button class="second" name="abort" value="yes">Refuse</button>
</form>`,
  );
}

export function deviceReadyPage(): string {
  return page("Your device is signed in", html`<p>You can close this page and continue there.</p>`);
}

export function signOutPage({ action, xsrf }: { action: string; xsrf: string }): string {
  return page(
    "Sign out?",
    html`<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${xsrf}">
<button name="logout" value="yes">Sign out</button>
<button class="second">Stay signed in</button>
</form>`,
  );
}

export function signedOutPage(): string {
  return page("You are signed out", html`<p>You can close this page.</p>`);
}

export function errorPage(title: string, text: string): string {
  return page(title, html`<p>${text}</p>`);
}

const autofocus = new Html(" autofocus");

function complaint(text: string | undefined): Html | null {
  return text === undefined ? null : html`<p class="wrong" role="alert">${text}</p>`;
}
