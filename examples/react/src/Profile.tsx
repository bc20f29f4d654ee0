import { type Profile as ProfileData } from "./api";
import { Alert, Field, Form, type Values } from "./Form";
import { useResource } from "./hooks";
import { useSession } from "./session";
import { describe } from "./texts";

// [profile]
export function Profile() {
  const { data, problem, reload } = useResource<ProfileData>("profiles");
  return (
    <section aria-labelledby="profile">
      <h2 id="profile">Profile</h2>
      {data && <Details profile={data} />}
      {problem?.details.code === "profile_not_found" ? (
        <NewProfile reload={reload} />
      ) : (
        problem && <Alert>{describe(problem)}</Alert>
      )}
    </section>
  );
}

function NewProfile({ reload }: { reload: () => void }) {
  const { call } = useSession();

  async function create(json: Values) {
    await call("profiles", { method: "POST", json });
    reload();
  }

  return (
    <Form action={create} button="Create profile">
      <Field name="first_name" label="First name" autoComplete="given-name" />
      <Field name="last_name" label="Last name" autoComplete="family-name" />
      <Field
        name="date_of_birth"
        label="Date of birth"
        type="date"
        autoComplete="bday"
      />
      <Field name="gender" label="Gender" autoComplete="sex" />
      <Field name="marital_status" label="Marital status" autoComplete="off" />
    </Form>
  );
}
// [end]

function Details({ profile }: { profile: ProfileData }) {
  return (
    <dl>
      <dt>Name</dt>
      <dd>
        {profile.first_name} {profile.last_name}
      </dd>
      <dt>Date of birth</dt>
      <dd>{profile.date_of_birth}</dd>
      <dt>Gender</dt>
      <dd>{profile.gender}</dd>
      <dt>Marital status</dt>
      <dd>{profile.marital_status}</dd>
    </dl>
  );
}
