// A client's typical requests, with the generated types.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./typescript/schema.js";

const [base, username, password] = process.argv.slice(2) as [string, string, string];
const headers: Record<string, string> = {};
const client = createClient<paths>({ baseUrl: base, headers });
client.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
  },
});
const form = { "Content-Type": "application/x-www-form-urlencoded" };

// A wrong password: the compiler checks that the operation documents the code.
const wrong = await client.POST("/api/v1/login", {
  body: { username, password: "wrong" },
  headers: form,
});
const code: components["schemas"]["LoginProblemCode"] | undefined = wrong.error?.code;
assert.equal(code, "incorrect_credentials");

const login = await client.POST("/api/v1/login", { body: { username, password }, headers: form });
assert(login.data);
headers["Authorization"] = `Bearer ${login.data.access_token}`;
const account = await client.GET("/api/v1/account");
const role: "root" | "admin" | "user" | undefined = account.data?.role;
assert.equal(role, "root");

// What has a default may be left out.
const draft: components["schemas"]["TaskCreate"] = { title: "Water the plants" };
const task = await client.POST("/api/v1/tasks/", { body: draft });
assert.equal(task.data?.priority, "normal");
const tasks = await client.GET("/api/v1/tasks/", { params: { query: { limit: 1 } } });
assert.equal(tasks.response.headers.get("X-Total-Count"), "1");

const sent = await client.POST("/api/v1/admin/notifications/", {
  body: { data: { title: "Hello", message: "A message.", channels: ["inapp"] } },
});
assert.equal(sent.data?.receivers, 1);
const inbox = await client.GET("/api/v1/notifications/");
const item = inbox.data?.[0];
assert(item);
const read = await fetch(base + item.links.mark + "?status=true", { method: "PATCH", headers });
assert.equal(((await read.json()) as typeof item).is_read, true);
const tag = inbox.response.headers.get("ETag");
assert(tag);
const changed = await client.GET("/api/v1/notifications/", {
  params: { header: { "If-None-Match": tag } },
});
assert.equal(changed.response.status, 200);
const path = { notification_id: item.id };
const gone = await client.DELETE("/api/v1/notifications/{notification_id}", { params: { path } });
assert.equal(gone.data?.title, "Hello");

await client.DELETE("/api/v1/logout");
const late = await client.GET("/api/v1/account");
assert.equal(late.error?.code, "token_expired");
console.log("done");
