// Keeps a page signed in across all tabs; a test runs this code in a real browser.

const API = "/api/v1";
const PLACE = "frontdesk";
// Refresh 30 seconds early, so that no request uses an expired token.
const EARLY = 30_000;

const stored = () => JSON.parse(localStorage.getItem(PLACE) ?? "null");

function keep(answer) {
  const { access_token, expires, refresh_token } = answer;
  localStorage.setItem(PLACE, JSON.stringify({ access_token, expires, refresh_token }));
  return stored();
}

async function send(path, fields, headers = {}) {
  const body = new URLSearchParams(fields);
  const response = await fetch(API + path, { method: "POST", headers, body });
  return { ok: response.ok, status: response.status, answer: await response.json() };
}

export async function signIn(username, password) {
  const { ok, answer } = await send("/login", { username, password }, { Prefer: "refresh" });
  if (!ok) throw new Error(answer.detail);
  keep(answer);
  return answer.account;
}

// One tab refreshes at a time: tabs that waited for the lock find its result in the storage.
function refreshed(old) {
  return navigator.locks.request(PLACE, async () => {
    const held = stored();
    if (!held || held.access_token !== old.access_token) return held;
    const fields = { grant_type: "refresh_token", refresh_token: held.refresh_token };
    const { ok, status, answer } = await send("/token", fields);
    if (ok) return keep(answer);
    // Only a rejected token ends the session; an unreachable server does not.
    if (status === 400) localStorage.removeItem(PLACE);
    return stored();
  });
}

export async function request(path, options = {}) {
  let held = stored();
  if (held && Date.parse(held.expires) - Date.now() < EARLY) held = await refreshed(held);
  const ask = () => {
    const headers = { ...options.headers, Authorization: `Bearer ${held?.access_token}` };
    return fetch(API + path, { ...options, headers });
  };
  const response = await ask();
  if (response.status !== 401 || !held) return response;
  // Revoked early, or already replaced by another tab.
  held = await refreshed(held);
  return held ? ask() : response;
}
