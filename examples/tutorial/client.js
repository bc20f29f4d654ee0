// How a page talks to the pinboard; a test does so in a real browser.

let token = null;

// [request]
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail);
    Object.assign(this, { status, code: document.code, errors: document.errors ?? [] });
  }
}

export async function request(path, { method = "GET", json } = {}) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (json) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method, headers, body: json && JSON.stringify(json) });
  const data = await response.json();
  if (response.ok) return data;
  if (response.status === 401) token = null;
  throw new Problem(response.status, data);
}
// [end]

// [sign-in]
export async function signIn(email, password) {
  const form = new URLSearchParams({ username: email, password });
  const response = await fetch("/api/login", { method: "POST", body: form });
  const data = await response.json();
  if (!response.ok) throw new Problem(response.status, data);
  token = data.access_token;
  return data.account;
}
// [end]

// [unread]
export function watchUnread(show, seconds = 30) {
  const update = async () => show((await request("/api/notifications/unread-count")).unread);
  update();
  return setInterval(update, seconds * 1000);
}
// [end]

// [next-step]
// Returns what a page does after a failed request.
export async function nextStep(response) {
  const problem = await response.json();
  if (response.status === 429) return { wait: problem.retry_after };
  if (problem.reason === "expired") return { refresh: true };
  // missing, malformed, revoked or invalid: only a new sign-in helps.
  if (problem.reason) return { signIn: true };
  return { show: problem.detail };
}
// [end]
