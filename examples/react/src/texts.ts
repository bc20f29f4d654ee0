// The texts of errors: by their stable code, or the text of the API for other codes.

import type { FieldError, Problem } from "./api";

// [texts]
/** Returns the text of a problem as a whole. */
export function describe({ details: { title, retry_after } }: Problem): string {
  if (retry_after === undefined) return `${title}.`;
  const relative = new Intl.RelativeTimeFormat("en");
  const wait =
    retry_after < 60
      ? relative.format(retry_after, "second")
      : relative.format(Math.ceil(retry_after / 60), "minute");
  return `${title}. Try again ${wait}.`;
}

/** Returns the text of the error of one field. */
export function describeField({ code, params, message }: FieldError): string {
  switch (code) {
    case "required":
    case "blank":
      return "Fill in this field.";
    case "too_short":
      return params.min === 1
        ? "Fill in this field."
        : `Enter at least ${params.min} characters.`;
    case "invalid_format":
      if (params.expected === "email") return "Enter a valid email address.";
      return params.expected === "date" ? "Enter a date." : message;
    case "too_common":
      return "This password is too common. Choose another one.";
    default:
      return message;
  }
}
// [end]
