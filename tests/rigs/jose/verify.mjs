// [verify]
import { createRemoteJWKSet, jwtVerify } from "jose";

const [url, token] = process.argv.slice(2);
const keys = createRemoteJWKSet(new URL(url));
const { payload } = await jwtVerify(token, keys, {
  algorithms: ["ES256", "EdDSA"],
  issuer: "https://api.example.com",
  audience: "api.example.com",
});
console.log(JSON.stringify(payload));
// [end]
