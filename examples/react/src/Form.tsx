import {
  createContext,
  startTransition,
  use,
  useActionState,
  useEffect,
  useId,
  useRef,
  type ComponentProps,
  type ReactNode,
} from "react";

import { attempt, type Problem } from "./api";
import { describe, describeField } from "./texts";

export type Values = Record<string, string>;

const FieldErrors = createContext<Record<string, string>>({});

// [errors]
/** Returns the texts of the form's fields, or one text for the whole form. */
function readErrors(problem: Problem, sent: FormData) {
  const errors = problem.details.errors ?? [];
  const ofFields = errors.filter(({ field }) => sent.has(field));
  const fields = Object.fromEntries(
    ofFields.map((error) => [error.field, describeField(error)]),
  );
  return { fields, whole: ofFields.length > 0 ? null : describe(problem) };
}
// [end]

// [form]
interface FormProps {
  action: (values: Values) => Promise<unknown>;
  button: string;
  children: ReactNode;
}

/** A form that shows the errors of its action, each at its field. */
export function Form({ action, button, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [errors, submit, isPending] = useActionState(
    async (_: unknown, sent: FormData) => {
      const problem = await attempt(() =>
        action(Object.fromEntries(sent) as Values),
      );
      return problem && readErrors(problem, sent);
    },
    null,
  );

  useEffect(() => {
    if (!errors) return;
    form.current
      ?.querySelector<HTMLElement>("[aria-invalid], [role=alert]")
      ?.focus();
  }, [errors]);

  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const sent = new FormData(event.currentTarget);
        // Not as the form's `action`: React would empty the fields after an error.
        startTransition(() => submit(sent));
      }}
    >
      {errors?.whole && <Alert>{errors.whole}</Alert>}
      <FieldErrors value={errors?.fields ?? {}}>{children}</FieldErrors>
      <button disabled={isPending}>{button}</button>
    </form>
  );
}

export function Alert({ children }: { children: ReactNode }) {
  return (
    <p role="alert" tabIndex={-1} className="error">
      {children}
    </p>
  );
}
// [end]

// [field]
interface FieldProps extends ComponentProps<"input"> {
  name: string;
  label: string;
  hint?: string;
}

export function Field({ name, label, hint, ...input }: FieldProps) {
  const id = useId();
  const error = use(FieldErrors)[name];
  const texts = [hint && `${id}-hint`, error && `${id}-error`];
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint && <p id={`${id}-hint`}>{hint}</p>}
      <input
        id={id}
        name={name}
        aria-invalid={error ? true : undefined}
        aria-describedby={texts.filter(Boolean).join(" ") || undefined}
        {...input}
      />
      {error && (
        <p id={`${id}-error`} className="error">
          {error}
        </p>
      )}
    </div>
  );
}
// [end]
