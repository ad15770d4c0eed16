import { sql } from "kysely";
import { expect } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { InboxStore } from "../../src/inbox/store.ts";
import { databaseOf } from "./accounts.ts";
import type { TestClient } from "./client.ts";
import { MailServer, type ReceivedMail } from "./mail-server.ts";
import { NtfyServer } from "./ntfy-server.ts";
import { inside, PeoplesService } from "./people.ts";

const patient = { timeout: 20_000 };

/** A person with a verified address. */
export interface Reached {
  client: TestClient;
  id: string;
  email: string;
}

/** A service that notifies people by a mail server and an ntfy server, which speak the real protocols. */
export class NotifiedService implements AsyncDisposable {
  readonly mail: MailServer;
  readonly ntfy: NtfyServer;
  readonly people: PeoplesService;
  readonly database: Database;
  #count = 0;

  private constructor(mail: MailServer, ntfy: NtfyServer, people: PeoplesService, database: Database) {
    this.mail = mail;
    this.ntfy = ntfy;
    this.people = people;
    this.database = database;
  }

  static async start(): Promise<NotifiedService> {
    const mail = await MailServer.start();
    const ntfy = await NtfyServer.start();
    const people = await PeoplesService.start({ mail: mail.config(), webhooksInside: [ntfy.authorityText] });
    return new NotifiedService(mail, ntfy, people, await databaseOf(people.service));
  }

  async newPerson(profile: object = {}): Promise<Reached> {
    const claims = this.#newClaims();
    const person = await reached(await this.people.person(claims), claims.email);
    if (Object.keys(profile).length > 0) await person.client.call("PATCH", "/me/profile", profile);
    return person;
  }

  /** A workspace with an owner and people of other roles. */
  async newTeam(...roles: string[]): Promise<{ name: string; owner: Reached; others: Reached[] }> {
    const owner = await this.newPerson();
    const name = await this.people.newWorkspace(owner.client);
    const others: Reached[] = [];
    for (const role of roles) {
      const claims = this.#newClaims();
      others.push(await reached(await this.people.join(owner.client, name, role, claims), claims.email));
    }
    return { name, owner: { ...owner, client: inside(owner.client, name) }, others };
  }

  /** Has people notified of what has happened. */
  async collect(): Promise<void> {
    await new InboxStore(this.database).collect();
  }

  /** The events that wait for a person. */
  async waiting({ id }: Reached): Promise<string[]> {
    await this.collect();
    const { rows } = await sql<{ type: string }>`
      select event ->> 'type' as type from notifications where person_id = ${id} order by number`.execute(
      this.database,
    );
    return rows.map(({ type }) => type);
  }

  /** Has what waits for the person sent now. */
  async due({ id }: Reached): Promise<void> {
    await this.collect();
    await sql`update notifications set due_at = now() where person_id = ${id}`.execute(this.database);
  }

  /** Waits until nothing waits for the person. */
  async settled({ id }: Reached): Promise<void> {
    const rest = async () => {
      const { rows } = await sql`
        select from notifications where person_id = ${id} union all
        select from notification_sends where person_id = ${id}`.execute(this.database);
      return rows.length;
    };
    await expect.poll(rest, patient).toBe(0);
  }

  /** The mails of what waits for the person. */
  async arrive(person: Reached): Promise<ReceivedMail[]> {
    const before = this.mail.to(person.email).length;
    await this.due(person);
    await this.settled(person);
    return this.mail.to(person.email).slice(before);
  }

  #newClaims() {
    return { email: `reader-${this.#count++}@example.com`, email_verified: true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.destroy();
    await this.people[Symbol.asyncDispose]();
    this.ntfy[Symbol.dispose]();
    await this.mail[Symbol.asyncDispose]();
  }
}

async function reached(client: TestClient, email: string): Promise<Reached> {
  return { client, email, id: (await client.call("GET", "/me")).body.person.id };
}
