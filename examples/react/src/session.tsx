import {
  createContext,
  use,
  useCallback,
  useEffect,
  useMemo,
  useState,
  type ReactNode,
} from "react";

import {
  attempt,
  Problem,
  request,
  type Account,
  type Options,
  type Session,
} from "./api";

// [state]
type State =
  | { name: "loading" }
  | { name: "unavailable"; problem: Problem }
  | { name: "signed-out"; notice: string }
  | { name: "signed-in"; account: Account };

const ENDED = "Your session has ended. Sign in again.";

/** Returns the next state after a rejected cookie. Requests can fail together. */
function rejected(state: State): State {
  if (state.name === "signed-out") return state;
  return { name: "signed-out", notice: state.name === "signed-in" ? ENDED : "" };
}
// [end]

interface SessionValue {
  state: State;
  call: typeof request;
  load: () => Promise<void>;
  enter: (session: Session) => void;
  signOut: () => Promise<void>;
}

const SessionContext = createContext<SessionValue | null>(null);

// [provider]
export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>({ name: "loading" });

  const enter = useCallback(
    ({ account }: Session) => setState({ name: "signed-in", account }),
    [],
  );

  const call = useCallback(async function call<Result>(
    path: string,
    options?: Options,
  ) {
    try {
      return await request<Result>(path, options);
    } catch (error) {
      if (error instanceof Problem && error.isSignedOut) setState(rejected);
      throw error;
    }
  }, []);

  const load = useCallback(async () => {
    const problem = await attempt(async () =>
      enter(await call<Session>("session")),
    );
    if (problem && !problem.isSignedOut) setState({ name: "unavailable", problem });
  }, [call, enter]);

  const signOut = useCallback(async () => {
    await request("session", { method: "DELETE" });
    setState({ name: "signed-out", notice: "You are signed out." });
  }, []);

  useEffect(() => {
    void load();
  }, [load]);

  const value = useMemo(
    () => ({ state, call, load, enter, signOut }),
    [state, call, load, enter, signOut],
  );
  return <SessionContext value={value}>{children}</SessionContext>;
}

export function useSession(): SessionValue {
  const value = use(SessionContext);
  if (value === null)
    throw new Error("useSession needs a SessionProvider above it");
  return value;
}
// [end]
