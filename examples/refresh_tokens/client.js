// Keeps a page signed in across all tabs; a test runs this code in a real browser.

const API = "/api/v1";
const STORAGE_KEY = "frontdesk";
// Refresh 30 seconds early, so that no request uses an expired token.
const MARGIN_MS = 30_000;

const readTokens = () => JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null");

function store(tokens) {
  const { access_token, expires, refresh_token } = tokens;
  localStorage.setItem(STORAGE_KEY, JSON.stringify({ access_token, expires, refresh_token }));
  return readTokens();
}

async function postForm(path, fields, headers = {}) {
  const body = new URLSearchParams(fields);
  const response = await fetch(API + path, { method: "POST", headers, body });
  return { ok: response.ok, status: response.status, data: await response.json() };
}

export async function signIn(username, password) {
  const { ok, data } = await postForm("/login", { username, password }, { Prefer: "refresh" });
  if (!ok) throw new Error(data.detail);
  store(data);
  return data.account;
}

// One tab refreshes at a time: tabs that waited for the lock find its result in the storage.
function refresh(old) {
  return navigator.locks.request(STORAGE_KEY, async () => {
    const current = readTokens();
    if (!current || current.access_token !== old.access_token) return current;
    const fields = { grant_type: "refresh_token", refresh_token: current.refresh_token };
    const { ok, status, data } = await postForm("/token", fields);
    if (ok) return store(data);
    // Only a rejected token ends the session; an unreachable server does not.
    if (status === 400) localStorage.removeItem(STORAGE_KEY);
    return readTokens();
  });
}

export async function request(path, options = {}) {
  let tokens = readTokens();
  if (tokens && Date.parse(tokens.expires) - Date.now() < MARGIN_MS) tokens = await refresh(tokens);
  const send = () => {
    const headers = { ...options.headers, Authorization: `Bearer ${tokens?.access_token}` };
    return fetch(API + path, { ...options, headers });
  };
  const response = await send();
  if (response.status !== 401 || !tokens) return response;
  // Revoked early, or already replaced by another tab.
  tokens = await refresh(tokens);
  return tokens ? send() : response;
}
