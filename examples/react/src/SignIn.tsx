import { useState } from "react";

import { Problem, request, type Session } from "./api";
import { Field, Form, type Values } from "./Form";
import { useSession } from "./session";
import { Title } from "./Title";

// [sign-in]
export function SignIn({ onSignUp }: { onSignUp: () => void }) {
  const { enter } = useSession();
  const [mfaToken, setMfaToken] = useState<string>();

  async function sendPassword({ email, password }: Values) {
    try {
      enter(
        await request<Session>("session", {
          method: "POST",
          json: { email, password },
        }),
      );
    } catch (error) {
      if (!(error instanceof Problem) || error.details.code !== "mfa_required")
        throw error;
      setMfaToken(error.details.mfa_token);
    }
  }

  if (mfaToken)
    return (
      <SecondFactor mfaToken={mfaToken} restart={() => setMfaToken(undefined)} />
    );
  return (
    <>
      <Title>Sign in</Title>
      <Form action={sendPassword} button="Sign in">
        <Field
          name="email"
          label="Email address"
          type="email"
          autoComplete="username"
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autoComplete="current-password"
        />
      </Form>
      <button className="link" onClick={onSignUp}>
        Create an account
      </button>
    </>
  );
}
// [end]

// [second-factor]
function SecondFactor({
  mfaToken,
  restart,
}: {
  mfaToken: string;
  restart: () => void;
}) {
  const { enter } = useSession();

  async function sendCode({ code = "" }: Values) {
    const proof = /^\d{6}$/.test(code) ? { otp: code } : { recovery_code: code };
    const json = { mfa_token: mfaToken, ...proof };
    enter(await request<Session>("session/mfa", { method: "POST", json }));
  }

  return (
    <>
      <Title>Enter your code</Title>
      <Form action={sendCode} button="Continue">
        <Field
          name="code"
          label="Code"
          hint="From your authenticator app, or a recovery code."
          autoComplete="one-time-code"
        />
      </Form>
      <button className="link" onClick={restart}>
        Start again
      </button>
    </>
  );
}
// [end]
