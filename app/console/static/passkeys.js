// Passkeys: a press on a button, or the browser's own offer beside the field for the address. What
// comes goes into the form around the button, and that is sent as any other.

const passkeys = window.PublicKeyCredential;

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const withBytes = (credentials) => credentials.map((each) => ({ ...each, id: toBytes(each.id) }));

function read(kind, json) {
  if (kind === "create") {
    return passkeys.parseCreationOptionsFromJSON?.(json) ?? {
      ...json,
      challenge: toBytes(json.challenge),
      user: { ...json.user, id: toBytes(json.user.id) },
      excludeCredentials: withBytes(json.excludeCredentials),
    };
  }
  return passkeys.parseRequestOptionsFromJSON?.(json) ?? {
    ...json,
    challenge: toBytes(json.challenge),
    allowCredentials: withBytes(json.allowCredentials),
  };
}

function written(credential) {
  try {
    return credential.toJSON();
  } catch {
    // An older browser has none, and what some password managers put in its place throws.
  }
  const { id, type, response } = credential;
  const parts = { clientDataJSON: toText(response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) parts[name] = toText(response[name]);
  }
  if (response.getTransports) parts.transports = response.getTransports();
  return { id, type, response: parts };
}

async function shown(button, more = {}) {
  const kind = button.dataset.passkey;
  const publicKey = read(kind, JSON.parse(button.dataset.options));
  const credential = await navigator.credentials[kind]({ publicKey, ...more });
  button.form.elements.credential.value = JSON.stringify(written(credential));
  button.form.requestSubmit();
}

// The request that waits behind a field, if one does: a browser has one at a time.
let offer = null;

async function pressed(button) {
  offer?.abort();
  const said = button.form.querySelector("[data-passkey-said]");
  said.hidden = true;
  button.setAttribute("aria-busy", "true");
  try {
    await shown(button);
  } catch (error) {
    said.textContent = error.name === "InvalidStateError" ? said.dataset.known : said.dataset.failed;
    said.hidden = false;
    offered(document);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

// What is asked for is good for five minutes, and a page may be open for longer.
const RENEW = 4 * 60 * 1000;

async function renewed(button) {
  const answer = await fetch(location.href);
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  const newer = found.querySelector("[data-passkey-offer]");
  if (newer && button.isConnected) button.dataset.options = newer.dataset.options;
}

async function offered(root) {
  const button = root.querySelector("[data-passkey-offer]");
  if (!button || !(await passkeys?.isConditionalMediationAvailable?.())) return;
  offer?.abort();
  const waiting = (offer = new AbortController());
  const renewal = setTimeout(async () => {
    await renewed(button);
    if (button.isConnected && offer === waiting) offered(document);
  }, RENEW);
  try {
    await shown(button, { mediation: "conditional", signal: waiting.signal });
  } catch {
    // Nothing was chosen, or a press on the button took its place.
  } finally {
    if (offer !== waiting) clearTimeout(renewal);
  }
}

function arrived(root) {
  if (!passkeys) {
    for (const part of root.querySelectorAll("[data-needs-passkeys]")) part.hidden = true;
    return;
  }
  offered(root);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-passkey]");
  if (button) pressed(button);
});
document.addEventListener("htmx:beforeSwap", () => offer?.abort());
document.addEventListener("htmx:load", (event) => arrived(event.detail.elt));
arrived(document);
