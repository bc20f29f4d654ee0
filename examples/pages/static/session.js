// The page's script has no token: the browser adds the cookie.

// [fetch]
export async function ask(path, { method = "GET", json } = {}) {
  const headers = json ? { "Content-Type": "application/json" } : {};
  const response = await fetch(path, { method, headers, body: json && JSON.stringify(json) });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.detail), answer);
  return answer;
}

export const signIn = (email, password) =>
  ask("/api/session", { method: "POST", json: { email, password } });
export const readSession = () => ask("/api/session").catch(() => null);
export const signOut = () => ask("/api/session", { method: "DELETE" });
// [end]
