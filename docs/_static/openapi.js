// The viewer of the OpenAPI document: a list of all operations, which a field filters. The content
// of an operation is built when a reader opens it, so that the page is shown at once.
"use strict";

(async () => {
  const place = document.getElementById("openapi");
  const response = await fetch(place.dataset.document).catch(() => null);
  if (!response?.ok) {
    place.textContent = "The document openapi.json could not be loaded. Open this page over HTTP.";
    return;
  }
  const api = await response.json();

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const code = (text) => make("code", { class: "literal" }, text);
  // Backticks in descriptions mark code.
  const prose = (text) =>
    make("p", {}, ...text.split("`").map((part, position) => (position % 2 ? code(part) : part)));
  const resolve = (schema) => (schema.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema);

  const typeOf = (schema) => {
    if (schema.$ref) return schema.$ref.split("/").pop();
    const parts = schema.anyOf ?? schema.allOf;
    if (parts) return [...new Set(parts.map(typeOf))].join(" or ");
    if (schema.items) return `array of ${typeOf(schema.items)}`;
    return [schema.type ?? "any"].flat().join(" or ") + (schema.format ? ` (${schema.format})` : "");
  };

  const table = (heads, rows) =>
    make("table", { class: "docutils" },
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {}, make("p", {}, head))))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell))))));

  const fields = (schema, depth = 0) => {
    const { properties, required = [] } = resolve(schema);
    return Object.entries(properties ?? {}).flatMap(([name, each]) => {
      const inner = each.$ref ? each : each.items?.$ref ? each.items : null;
      const about = prose(`${required.includes(name) ? "" : "Optional. "}${each.description ?? ""}`);
      const row = [code(`${"· ".repeat(depth)}${name}`), typeOf(each), about];
      return [row, ...(inner && depth < 2 ? fields(inner, depth + 1) : [])];
    });
  };

  const example = (content) =>
    content.example === undefined
      ? []
      : [make("div", { class: "highlight" }, make("pre", { tabindex: "0" }, JSON.stringify(content.example, null, 2)))];

  const body = (title, media, content) => {
    const rows = fields(content.schema);
    return [
      make("p", {}, make("strong", {}, title), ` ${media}: ${typeOf(content.schema)}`),
      ...(rows.length ? [table(["field", "type", "description"], rows)] : []),
      ...example(content),
    ];
  };

  const fill = (operation) => {
    const parts = operation.description ? operation.description.split("\n\n").map(prose) : [];
    if (operation.parameters?.length)
      parts.push(table(["parameter", "in", "type", "description"], operation.parameters.map((each) => [
        code(each.name), each.in, typeOf(each.schema), prose(`${each.required ? "" : "Optional. "}${each.description ?? ""}`),
      ])));
    for (const [media, content] of Object.entries(operation.requestBody?.content ?? {}))
      parts.push(...body("Request", media, content));
    const errors = [];
    for (const [status, answer] of Object.entries(operation.responses))
      for (const [media, content] of Object.entries(answer.content ?? { "": { schema: {} } }))
        if (media === "application/problem+json")
          errors.push([status, make("p", {}, ...Object.keys(content.examples ?? {}).flatMap((name) => [
            make("a", { href: `../error-codes.html#${name}` }, code(name)), " ",
          ]))]);
        else parts.push(...body(`Response ${status}`, media || "without a body", content));
    if (errors.length) parts.push(table(["error", "codes"], errors));
    return parts;
  };

  const rows = [];
  const groups = new Map(api.tags.map(({ name, description }) => [name, [make("h2", {}, description ?? name)]]));
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const summary = make("summary", {}, make("code", { class: `method ${method}` }, method.toUpperCase()), " ",
        code(path), " ", make("span", {}, operation.summary));
      const row = make("details", { class: "openapi-operation" }, summary);
      row.addEventListener("toggle", () => row.childElementCount === 1 && row.append(...fill(operation)), { once: true });
      rows.push({ row, text: `${method} ${path} ${operation.summary}`.toLowerCase() });
      groups.get(operation.tags[0]).push(row);
    }

  const filter = make("input", { type: "search", placeholder: "Filter operations", "aria-label": "Filter operations" });
  const sections = [...groups.values()].map((parts) => make("section", {}, ...parts));
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const { row, text } of rows) row.hidden = !words.every((word) => text.includes(word));
    for (const section of sections) section.hidden = !section.querySelector("details:not([hidden])");
  });
  place.replaceChildren(filter, make("p", {}, `${rows.length} operations`), ...sections);
  performance.mark("operations-shown");
})();
