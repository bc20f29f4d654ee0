// Search a built site without a browser: node ask.js SITE, questions as JSON lines on stdin.
// Prints the URLs of the results for each question, best first, as the search page lists them.

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const site = process.argv[2];
const read = (name) => fs.readFileSync(path.join(site, name), "utf8");
const nothing = () => null;
const storage = { setItem: nothing, getItem: nothing, removeItem: nothing };
const context = {
  console,
  localStorage: storage,
  _ready: nothing,
  _: (text) => text,
  SPHINX_HIGHLIGHT_ENABLED: false,
  DOCUMENTATION_OPTIONS: {},
  document: { getElementById: nothing, querySelectorAll: () => [], addEventListener: nothing },
  URLSearchParams,
  location: { search: "" },
};
context.window = context;
vm.createContext(context);
const programs = ["base-stemmer.js", "english-stemmer.js", "language_data.js", "searchtools.js"]
  .map((name) => `_static/${name}`)
  .filter((name) => fs.existsSync(path.join(site, name)));
const ask = `
const ask = (question) => Search._performSearch(...Search._parseQuery(question));
globalThis.ask = ask;`;
// One script, because each declares constants that the next one reads.
vm.runInContext([...programs.map(read), read("searchindex.js"), ask].join("\n"), context);

for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const question = JSON.parse(line);
  context.location.search = `?q=${encodeURIComponent(question)}`;
  const results = context.ask(question).reverse();
  const found = results.map(([doc, , anchor]) => `${doc}${anchor}`);
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
