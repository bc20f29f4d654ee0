import {
  startTransition,
  useActionState,
  useCallback,
  useEffect,
  useState,
} from "react";

import { attempt, INBOX, type InboxItem, type Problem } from "./api";
import { useSession } from "./session";

// [resource]
/** Loads a path now and with each `reload`. The last data stays until new data arrives. */
export function useResource<Result>(path: string) {
  const { call } = useSession();
  const [data, setData] = useState<Result>();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [loads, setLoads] = useState(0);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    attempt(async () => setData(await call<Result>(path, { signal }))).then(
      (problem) => {
        if (!signal.aborted) setProblem(problem);
      },
    );
    return () => controller.abort();
  }, [call, path, loads]);

  const reload = useCallback(() => setLoads((count) => count + 1), []);
  return { data, problem, reload };
}
// [end]

// [polling]
/** Polls while the page is visible, and when it becomes visible again. */
export function usePolling(poll: () => void, seconds: number) {
  useEffect(() => {
    const pollIfVisible = () => {
      if (document.visibilityState === "visible") poll();
    };
    const timer = setInterval(pollIfVisible, seconds * 1000);
    document.addEventListener("visibilitychange", pollIfVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", pollIfVisible);
    };
  }, [poll, seconds]);
}
// [end]

// [inbox]
/** The newest items of the inbox and the number of unread items, kept up to date. */
export function useInbox(seconds = 30) {
  const { reload: reloadItems, ...items } = useResource<InboxItem[]>(
    `${INBOX}?limit=20`,
  );
  const { reload: reloadCount, ...count } = useResource<{ unread: number }>(
    `${INBOX}unread-count`,
  );

  const reload = useCallback(() => {
    reloadItems();
    reloadCount();
  }, [reloadItems, reloadCount]);
  usePolling(reload, seconds);

  const problem = items.problem ?? count.problem;
  return { items: items.data, unread: count.data?.unread, problem, reload };
}
// [end]

// [action]
/** Runs the action of a button, one at a time, and keeps its last problem. */
export function useAction(action: () => Promise<unknown>) {
  const [problem, submit, isPending] = useActionState<Problem | null>(
    () => attempt(action),
    null,
  );
  const run = () => {
    if (!isPending) startTransition(submit);
  };
  return { problem, isPending, run };
}
// [end]
