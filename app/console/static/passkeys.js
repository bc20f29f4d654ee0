// Passkeys: with a button, or with the browser's autofill in the email field. The credential is put into
// the form around the button, which is then submitted.

const passkeys = window.PublicKeyCredential;

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const withBytes = (credentials) => credentials.map((each) => ({ ...each, id: toBytes(each.id) }));

function parseOptions(kind, json) {
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

function serialize(credential) {
  try {
    return credential.toJSON();
  } catch {
    // Missing in older browsers; some password managers replace it with a function that throws.
  }
  const { id, type, response } = credential;
  const parts = { clientDataJSON: toText(response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) parts[name] = toText(response[name]);
  }
  if (response.getTransports) parts.transports = response.getTransports();
  return { id, type, response: parts };
}

async function sendCredential(button, more = {}) {
  const kind = button.dataset.passkey;
  const publicKey = parseOptions(kind, JSON.parse(button.dataset.options));
  const credential = await navigator.credentials[kind]({ publicKey, ...more });
  button.form.elements.credential.value = JSON.stringify(serialize(credential));
  button.form.requestSubmit();
}

// The pending autofill request, if any: a browser allows one at a time.
let offer = null;

async function handlePress(button) {
  offer?.abort();
  const status = button.form.querySelector("[data-passkey-status]");
  status.hidden = true;
  button.setAttribute("aria-busy", "true");
  try {
    await sendCredential(button);
  } catch (error) {
    status.textContent = error.name === "InvalidStateError" ? status.dataset.known : status.dataset.failed;
    status.hidden = false;
    offerAutofill(document);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

// The options expire after five minutes, and a page may be open for longer.
const RENEW = 4 * 60 * 1000;

async function renewOptions(button) {
  const response = await fetch(location.href);
  const found = new DOMParser().parseFromString(await response.text(), "text/html");
  const newer = found.querySelector("[data-passkey-offer]");
  if (newer && button.isConnected) button.dataset.options = newer.dataset.options;
}

async function offerAutofill(root) {
  const button = root.querySelector("[data-passkey-offer]");
  if (!button || !(await passkeys?.isConditionalMediationAvailable?.())) return;
  offer?.abort();
  const waiting = (offer = new AbortController());
  const renewal = setTimeout(async () => {
    await renewOptions(button);
    if (button.isConnected && offer === waiting) offerAutofill(document);
  }, RENEW);
  try {
    await sendCredential(button, { mediation: "conditional", signal: waiting.signal });
  } catch {
    // The user chose no passkey, or pressed the button instead.
  } finally {
    if (offer !== waiting) clearTimeout(renewal);
  }
}

function initialize(root) {
  if (!passkeys) {
    for (const part of root.querySelectorAll("[data-needs-passkeys]")) part.hidden = true;
    return;
  }
  offerAutofill(root);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-passkey]");
  if (button) handlePress(button);
});
document.addEventListener("htmx:beforeSwap", () => offer?.abort());
document.addEventListener("htmx:load", (event) => initialize(event.detail.elt));
initialize(document);
