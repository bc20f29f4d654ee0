// Requests to the API. The browser sends the session cookie, which scripts cannot read.

// [api]
// Where the API and the inbox are mounted, each with a slash at the end. The API can
// have another origin than the page, such as https://api.example.com/api/.
const API = new URL(import.meta.env.VITE_API ?? "/api/", location.href);
export const INBOX: string = import.meta.env.VITE_INBOX ?? "notifications/";
// [end]

// [types]
export interface Account {
  email: string;
  /** A field of the tutorial's accounts, which the service does not have. */
  name?: string;
  role: string;
  created_at: string;
}

export interface Session {
  account: Account;
}

export interface Profile {
  first_name: string | null;
  last_name: string | null;
  date_of_birth: string | null;
  gender: string | null;
  marital_status: string | null;
}

export interface InboxItem {
  id: number;
  title: string;
  message: string;
  is_read: boolean;
  created_at: string;
  links: { mark: string };
}

export interface FieldError {
  field: string;
  message: string;
  code: string;
  params: Record<string, unknown>;
}

interface ProblemDetails {
  status: number;
  code: string;
  title: string;
  errors?: FieldError[];
  reason?: string;
  retry_after?: number;
  mfa_token?: string;
}
// [end]

// [problem]
export class Problem extends Error {
  readonly details: ProblemDetails;

  constructor(details: ProblemDetails) {
    super(details.title);
    this.details = details;
  }

  /** Whether the API rejected the cookie: only a new sign-in helps. */
  get isSignedOut() {
    return this.details.status === 401 && this.details.reason !== undefined;
  }
}

/** Returns the problem of a failed request, or null after success. */
export async function attempt(
  action: () => Promise<unknown>,
): Promise<Problem | null> {
  try {
    await action();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
// [end]

// [request]
export interface Options {
  method?: string;
  json?: object;
  signal?: AbortSignal;
}

/** Sends a request to a path below the API, or to a link of an earlier response. */
export async function request<Result>(
  path: string,
  options: Options = {},
): Promise<Result> {
  let response = await send(path, options);
  // A sign-in in another tab replaces the cookie, and requests under way fail: repeat
  // them once.
  const reason: string | undefined = response.body.reason;
  if (!response.ok && reason && reason !== "missing")
    response = await send(path, options);
  if (!response.ok) throw new Problem(response.body);
  return response.body;
}

async function send(path: string, { method, json, signal }: Options) {
  const headers = json ? { "Content-Type": "application/json" } : undefined;
  const body = json && JSON.stringify(json);
  try {
    const url = new URL(path, API);
    const response = await fetch(url, {
      method,
      headers,
      body,
      signal,
      credentials: "include",
    });
    return { ok: response.ok, body: await response.json() };
  } catch {
    // No connection, or no JSON: the response is not from Frontdesk.
    return { ok: false, body: UNREACHABLE };
  }
}

const UNREACHABLE: ProblemDetails = {
  status: 0,
  code: "unreachable",
  title: "The server cannot be reached",
};
// [end]
