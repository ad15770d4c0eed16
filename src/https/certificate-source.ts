/** Where the certificate of the HTTPS listener is from. */
export interface CertificateSource {
  /** Uses the certificate that is there already. Before the server listens. */
  load(): Promise<void>;
  /** Looks for newer certificates from now on. */
  start(): void;
  /** Looks now. Keeps the certificate in use, and logs an error, if there is no newer one that can be used. */
  reload(): Promise<void>;
  close(): Promise<void>;
  /** Whether there is a certificate, and a sentence about it and about the last failure. */
  readonly status: { ok: boolean; message: string };
}
