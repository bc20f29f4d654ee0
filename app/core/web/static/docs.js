// Swagger UI with the OpenAPI document of this service.

const script = document.currentScript;

// The color scheme of the reader's device.
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyScheme);
applyScheme();

// Swagger UI's own resolver converts the whole document, which takes seconds. The references of this
// document all start with `#/`, and only the opened operation needs its references.
const unescape = (name) => name.replaceAll("~1", "/").replaceAll("~0", "~");
const find = (document, path) => path.reduce((part, name) => part?.[name], document);

function resolve(part, document, within = []) {
  if (part === null || typeof part !== "object") return part;
  if (Array.isArray(part)) return part.map((each) => resolve(each, document, within));
  const { $ref: reference, ...rest } = part;
  if (typeof reference === "string") {
    // A schema that contains itself.
    if (within.includes(reference)) return part;
    const found = find(document, reference.slice(2).split("/").map(unescape));
    return { ...resolve(found, document, [...within, reference]), ...rest };
  }
  const entries = Object.entries(part);
  return Object.fromEntries(entries.map(([name, each]) => [name, resolve(each, document, within)]));
}

const FastDocument = {
  fn: {
    resolveSubtree: async (document, path) => ({
      spec: resolve(find(document, path), document),
      errors: [],
    }),
  },
  statePlugins: {
    spec: {
      wrapActions: {
        // The document is JSON; Swagger UI would read it as YAML.
        parseToJson: (_, { specActions }) => (text) => specActions.updateJsonSpec(JSON.parse(text)),
      },
    },
  },
};

const page = SwaggerUIBundle({
  url: new URL("../openapi.json", script.src).href,
  dom_id: "#reference",
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
  plugins: [FastDocument],
  defaultModelsExpandDepth: 0,
  docExpansion: "none",
  onComplete: () => requestAnimationFrame(() => setTimeout(showOperations)),
});

// The lists of operations are shown after the page is painted.
function showOperations() {
  for (const { name } of page.specSelectors.specJson().get("tags").toJS()) {
    page.layoutActions.show(["operations-tag", name], true);
  }
}
