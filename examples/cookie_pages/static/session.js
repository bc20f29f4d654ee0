// The page's script has no token: the browser adds the cookie.

// [fetch]
export async function request(path, { method = "GET", json } = {}) {
  const headers = json ? { "Content-Type": "application/json" } : {};
  const response = await fetch(path, { method, headers, body: json && JSON.stringify(json) });
  const data = await response.json();
  if (!response.ok) throw Object.assign(new Error(data.detail), data);
  return data;
}

export const signIn = (email, password) =>
  request("/api/session", { method: "POST", json: { email, password } });
export const readSession = () => request("/api/session").catch(() => null);
export const signOut = () => request("/api/session", { method: "DELETE" });
// [end]
