// Passkeys in your page; a test does all of this in a real browser.

const API = "/api/v1";

async function request(path, { method = "POST", json, token } = {}) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (json) headers["Content-Type"] = "application/json";
  const response = await fetch(API + path, { method, headers, body: json && JSON.stringify(json) });
  const data = await response.json();
  if (!response.ok) throw Object.assign(new Error(data.detail), { code: data.code });
  return data;
}

// [json]
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const withBytes = (credentials) => credentials.map((each) => ({ ...each, id: toBytes(each.id) }));

export function creationOptions(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON)
    return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  return {
    ...json,
    challenge: toBytes(json.challenge),
    user: { ...json.user, id: toBytes(json.user.id) },
    excludeCredentials: withBytes(json.excludeCredentials),
  };
}

export function requestOptions(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON)
    return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  return {
    ...json,
    challenge: toBytes(json.challenge),
    allowCredentials: withBytes(json.allowCredentials),
  };
}

export function asJson(credential) {
  try {
    return credential.toJSON();
  } catch {
    // Older browsers have no toJSON, and some password managers' versions throw.
  }
  const { id, type, response } = credential;
  const parts = { clientDataJSON: toText(response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"])
    if (response[name]) parts[name] = toText(response[name]);
  if (response.getTransports) parts.transports = response.getTransports();
  return { id, type, response: parts };
}
// [end]

// [add]
export async function addPasskey(token, name) {
  const options = await request("/authenticators/passkey/options", { token });
  const credential = await navigator.credentials.create({ publicKey: creationOptions(options) });
  const json = { name, credential: asJson(credential) };
  return request("/authenticators/passkey", { token, json });
}
// [end]

// [sign-in]
// The pending autofill request: a browser allows one request at a time.
let offer = null;

export async function signIn(more = {}, route = "/login/passkey") {
  offer?.abort();
  const options = await request("/login/passkey/options");
  const publicKey = requestOptions(options);
  const credential = await navigator.credentials.get({ publicKey, ...more });
  return request(route, { json: { credential: asJson(credential) } });
}
// [end]

// [fill-in]
// Next to <input name="username" autocomplete="username webauthn">: the browser offers passkeys there.
export async function offerPasskeys(whenSignedIn, renewAfter = 4 * 60 * 1000) {
  if (!(await window.PublicKeyCredential?.isConditionalMediationAvailable?.())) return;
  for (let isOver = true; isOver; ) {
    isOver = false;
    const waiting = new AbortController();
    // A challenge expires after five minutes; the page may be open for longer.
    const renewal = setTimeout(() => waiting.abort((isOver = true)), renewAfter);
    try {
      const signedIn = signIn({ mediation: "conditional", signal: waiting.signal });
      offer = waiting;
      whenSignedIn(await signedIn);
    } catch (error) {
      // Ignore an abort by the timer or by a click on the button.
      if (!waiting.signal.aborted) throw error;
    } finally {
      clearTimeout(renewal);
    }
  }
}
// [end]

// [manage]
export const passkeys = (token) => request("/authenticators", { method: "GET", token });
export const rename = (token, id, name) =>
  request(`/authenticators/${id}`, { method: "PATCH", token, json: { name } });
export const remove = (token, id) => request(`/authenticators/${id}`, { method: "DELETE", token });
// [end]
