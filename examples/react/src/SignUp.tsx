import { useState } from "react";

import { request, type Session } from "./api";
import { Field, Form, type Values } from "./Form";
import { useSession } from "./session";
import { Title } from "./Title";

// [sign-up]
export function SignUp({ onSignIn }: { onSignIn: () => void }) {
  const { enter } = useSession();
  const [credentials, setCredentials] = useState<Values>();

  async function signIn(json: Values) {
    enter(await request<Session>("session", { method: "POST", json }));
  }

  async function register({ name = "", email = "", password = "" }: Values) {
    const json = { name, email, password };
    const answer = await request<object>("registration", { method: "POST", json });
    // Without required verification of the address, the account can sign in at once.
    if ("access_token" in answer) await signIn({ email, password });
    else setCredentials({ email, password });
  }

  if (credentials) {
    const restart = () => setCredentials(undefined);
    return (
      <Verification credentials={credentials} signIn={signIn} restart={restart} />
    );
  }
  return (
    <>
      <Title>Create account</Title>
      <Form action={register} button="Create account">
        <Field name="name" label="Name" autoComplete="name" />
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
          autoComplete="new-password"
        />
      </Form>
      <button className="link" onClick={onSignIn}>
        I have an account
      </button>
    </>
  );
}
// [end]

interface VerificationProps {
  credentials: Values;
  signIn: (credentials: Values) => Promise<void>;
  restart: () => void;
}

function Verification({ credentials, signIn, restart }: VerificationProps) {
  async function verify({ token }: Values) {
    const json = { email: credentials.email, token };
    await request("email-verification", { method: "POST", json });
    await signIn(credentials);
  }

  return (
    <>
      <Title>Check your email</Title>
      <p>Enter the code of eight digits from the email to {credentials.email}.</p>
      <Form action={verify} button="Verify email address">
        <Field
          name="token"
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
        />
      </Form>
      <button className="link" onClick={restart}>
        Use another address
      </button>
    </>
  );
}
