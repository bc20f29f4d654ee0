import type { Account } from "./api";
import { Inbox } from "./Inbox";
import { Profile } from "./Profile";
import { Title } from "./Title";

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });

export function Home({ account }: { account: Account }) {
  return (
    <>
      <Title>{`Hello, ${account.name || account.email}`}</Title>
      <Inbox />
      <section aria-labelledby="account">
        <h2 id="account">Account</h2>
        <dl>
          <dt>Email address</dt>
          <dd>{account.email}</dd>
          <dt>Role</dt>
          <dd>{account.role}</dd>
          <dt>Member since</dt>
          <dd>{DATE.format(new Date(account.created_at))}</dd>
        </dl>
      </section>
      <Profile />
    </>
  );
}
