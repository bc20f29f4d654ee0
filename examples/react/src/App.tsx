import { useState } from "react";

import { Alert } from "./Form";
import { Home } from "./Home";
import { useAction } from "./hooks";
import { useSession } from "./session";
import { SignIn } from "./SignIn";
import { SignUp } from "./SignUp";
import { describe } from "./texts";
import { Title } from "./Title";

export function App() {
  const { state } = useSession();
  return (
    <>
      <header>
        <strong>Pinboard</strong>
        {state.name === "signed-in" && <SignOut />}
      </header>
      <main>
        <p role="status">{state.name === "signed-out" && state.notice}</p>
        <View />
      </main>
    </>
  );
}

// [view]
function View() {
  const { state, load } = useSession();
  switch (state.name) {
    case "loading":
      return <p>Loading</p>;
    case "unavailable":
      return (
        <>
          <Title>Something went wrong</Title>
          <Alert>{describe(state.problem)}</Alert>
          <button onClick={load}>Try again</button>
        </>
      );
    case "signed-out":
      return <Visitor />;
    case "signed-in":
      return <Home account={state.account} />;
  }
}
// [end]

function Visitor() {
  const [isNew, setIsNew] = useState(false);
  if (isNew) return <SignUp onSignIn={() => setIsNew(false)} />;
  return <SignIn onSignUp={() => setIsNew(true)} />;
}

function SignOut() {
  const { signOut } = useSession();
  const { problem, isPending, run } = useAction(signOut);
  return (
    <>
      {problem && <Alert>{describe(problem)}</Alert>}
      <button disabled={isPending} onClick={run}>
        Sign out
      </button>
    </>
  );
}
