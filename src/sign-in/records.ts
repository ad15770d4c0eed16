import { createHash, randomBytes } from "node:crypto";
import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import type { ProviderRecords, StoredRecord } from "./provider-record-store.ts";

/**
 * Stands in for the id of a record that was found by another field. It is random and known only to this process, so a
 * hash from a copy of the database opens nothing.
 */
const handlePrefix = `${randomBytes(32).toString("base64url")}.`;

/**
 * Stores one kind of the provider's records. An id is the secret that opens its record, so it is not stored: neither a
 * copy of the database nor its log reveals a session or token.
 */
export class RecordAdapter implements Adapter {
  readonly #model: string;
  readonly #store: ProviderRecords;

  constructor(model: string, store: ProviderRecords) {
    this.#model = model;
    this.#store = store;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const { userCode, uid, grantId, accountId } = payload;
    await this.#store.upsert(this.#model, hashOf(id), withoutSecrets(payload), {
      accountId: accountId ?? null,
      grantId: grantId ?? null,
      uid: uid ?? null,
      userCodeHash: userCode === undefined ? null : hashOf(userCode),
      expiresAt: expiresIn ? new Date(Date.now() + expiresIn * 1000) : null,
    });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return restored(await this.#store.find(this.#model, hashOf(id)), id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return restored(await this.#store.findByUid(this.#model, uid));
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    const payload = restored(await this.#store.findByUserCode(this.#model, hashOf(userCode)));
    return payload && { ...payload, userCode };
  }

  /** Throws `InvalidGrant` if another request consumed it since the provider's check. */
  async consume(id: string): Promise<void> {
    if (!(await this.#store.consume(this.#model, hashOf(id)))) throw new errors.InvalidGrant("already used");
  }

  destroy(id: string): Promise<void> {
    return this.#store.destroy(this.#model, hashOf(id));
  }

  revokeByGrantId(grantId: string): Promise<void> {
    return this.#store.revokeByGrantId(this.#model, grantId);
  }
}

function hashOf(id: string): Buffer {
  if (id.startsWith(handlePrefix)) return Buffer.from(id.slice(handlePrefix.length), "base64url");
  return createHash("sha256").update(id).digest();
}

/** Removes other records' ids from an interaction: the session's, which nothing reads, and the device code's. */
function withoutSecrets({ jti: id, userCode: _, ...payload }: AdapterPayload): AdapterPayload {
  const { session, deviceCode, returnTo } = payload;
  return {
    ...payload,
    ...(session ? { session: { ...session, cookie: undefined } } : {}),
    ...(deviceCode ? { deviceCode: hashOf(deviceCode).toString("base64url") } : {}),
    ...(returnTo && id ? { returnTo: returnTo.replace(id, "") } : {}),
  } as AdapterPayload;
}

function restored(record: StoredRecord | null, id?: string): AdapterPayload | undefined {
  if (!record) return undefined;
  const { idHash, consumedAt } = record;
  const payload = record.payload as AdapterPayload;
  return {
    ...payload,
    jti: id ?? handlePrefix + idHash.toString("base64url"),
    ...(payload.deviceCode ? { deviceCode: handlePrefix + payload.deviceCode } : {}),
    ...(payload.returnTo && id ? { returnTo: payload.returnTo + id } : {}),
    ...(consumedAt ? { consumed: Math.floor(consumedAt.getTime() / 1000) } : {}),
  };
}
