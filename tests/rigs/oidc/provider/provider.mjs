// A certified OpenID Connect provider on loopback, for the tests.
//
// It prints its issuer as one JSON line when it listens, and stops when its standard input closes, which ends it
// with the tests. `POST /control` rebuilds it with other options and keeps its address, its sessions and the
// codes it has issued, so that keys can rotate during a sign-in.
// This is the last version of the provider that runs on Node 18 (Debian stable) and on newer versions.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import Provider from 'oidc-provider';

import { Memory } from './memory.mjs';

const clientSecret = process.env.CLIENT_SECRET;
const redirectUris = JSON.parse(process.env.REDIRECT_URIS);
const postLogoutRedirectUris = JSON.parse(process.env.POST_LOGOUT_REDIRECT_URIS);

// All other users have a verified email address that starts with the login name.
const people = {
  unverified: { email: 'unverified@example.com', email_verified: false },
  unstated: { email: 'unstated@example.com' },
  mixed: { email: 'Mixed.Case@Example.COM', email_verified: true },
  mailless: {},
  duplicate: { email: 'ada@example.com', email_verified: true },
};

const options = {
  claimsInIdToken: false,
  requirePkce: true,
  keepKeyIds: false,
  // The address for logout tokens of all clients.
  logoutUri: null,
  // The groups of users by login name.
  groups: {},
  keys: newKeys(),
};

function newKeys(kids = [randomUUID(), randomUUID(), randomUUID()]) {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const ed = generateKeyPairSync('ed25519').privateKey;
  return [
    { ...rsa.export({ format: 'jwk' }), kid: kids[0], alg: 'RS256', use: 'sig' },
    { ...ec.export({ format: 'jwk' }), kid: kids[1], alg: 'ES256', use: 'sig' },
    { ...ed.export({ format: 'jwk' }), kid: kids[2], alg: 'EdDSA', use: 'sig' },
  ];
}

// One client for each variant of client authentication and token signature.
function client(id, others) {
  return {
    client_id: id,
    client_secret: clientSecret,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: postLogoutRedirectUris,
    response_types: ['code'],
    grant_types: ['authorization_code'],
    ...others,
  };
}

const clients = [
  client('frontdesk', {}),
  client('frontdesk-post', { token_endpoint_auth_method: 'client_secret_post' }),
  client('frontdesk-ec', { id_token_signed_response_alg: 'ES256' }),
  client('frontdesk-ed', { id_token_signed_response_alg: 'EdDSA' }),
];

function findAccount(ctx, sub) {
  const person = people[sub] ?? { email: `${sub}@example.com`, email_verified: true };
  const claims = { sub, name: `Person ${sub}`, given_name: 'Person', family_name: sub, ...person };
  // The scope `groups` has this claim; without groups, the claim is missing.
  const groups = options.groups[sub];
  return { accountId: sub, claims: async () => ({ ...claims, groups }) };
}

function build() {
  const logout = options.logoutUri && {
    backchannel_logout_uri: options.logoutUri,
    backchannel_logout_session_required: true,
  };
  const provider = new Provider(issuer, {
    adapter: Memory,
    clients: clients.map((each) => ({ ...each, ...logout })),
    findAccount,
    jwks: { keys: options.keys },
    conformIdTokenClaims: !options.claimsInIdToken,
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'family_name'],
      groups: ['groups'],
    },
    pkce: { required: () => options.requirePkce },
    cookies: { keys: ['only for tests'] },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
  });
  for (const event of ['success', 'error']) {
    provider.on(`backchannel.${event}`, (...given) => console.error(`backchannel ${event}`, ...given.slice(1)));
  }
  return provider.callback();
}

async function control(request, response) {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { rotate, ...changes } = JSON.parse(body);
  Object.assign(options, changes);
  if (rotate) options.keys = newKeys(options.keepKeyIds ? options.keys.map((key) => key.kid) : undefined);
  handle = build();
  response.writeHead(204).end();
}

let issuer;
let handle;

const server = createServer((request, response) => {
  if (request.method === 'POST' && request.url === '/control') control(request, response);
  else handle(request, response);
});

server.listen(0, '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  handle = build();
  console.log(JSON.stringify({ issuer }));
});

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
