// Verifies the token in argv[3] with the key set at argv[2], and prints its subject and algorithm.
import { createRemoteJWKSet, jwtVerify } from "jose";

const [url, token] = process.argv.slice(2);
const keys = createRemoteJWKSet(new URL(url));
const { payload, protectedHeader } = await jwtVerify(token, keys, {
  algorithms: ["ES256", "EdDSA"],
});
console.log(JSON.stringify({ sub: payload.sub, alg: protectedHeader.alg }));
