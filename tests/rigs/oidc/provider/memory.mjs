// The provider's storage, so that a rebuilt provider still has its sessions and codes.
// The provider's default storage is lost with it.
const records = new Map();

export class Memory {
  constructor(kind) {
    this.kind = kind;
  }

  key(id) {
    return `${this.kind}:${id}`;
  }

  async upsert(id, payload) {
    records.set(this.key(id), payload);
  }

  async find(id) {
    return records.get(this.key(id));
  }

  async findByUid(uid) {
    return [...records].find(([key, record]) => key.startsWith(`${this.kind}:`) && record.uid === uid)?.[1];
  }

  async consume(id) {
    records.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id) {
    records.delete(this.key(id));
  }

  async revokeByGrantId(grantId) {
    for (const [key, record] of records) if (record.grantId === grantId) records.delete(key);
  }
}
