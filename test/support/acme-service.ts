import { once } from "node:events";
import { connect } from "node:tls";
import type { AcmeConfig, Config, HttpsConfig } from "../../src/config/config.ts";
import type { Pebble } from "./pebble.ts";

/** The name that the tests' certificates are for. */
export const acmeName = "berth.example.com";

/** The settings of a service that orders its certificate from a directory, which finds it at these ports. */
export function ordering(
  directory: Pick<Pebble, "directory" | "caFile" | "httpPort" | "tlsPort">,
  challenge: AcmeConfig["challenge"],
  changes: Partial<AcmeConfig> = {},
): Pick<Config, "publicUrl"> & { https: HttpsConfig } {
  const host = "127.0.0.1";
  const { directory: url, caFile, httpPort, tlsPort } = directory;
  const acme = { name: acmeName, directory: url, caFile, challenge, email: null, ...changes };
  const isHttp = challenge === "http-01";
  const redirect = isHttp ? { host, port: httpPort } : null;
  const https = { files: null, acme, host, port: isHttp ? 0 : tlsPort, redirect, hstsSeconds: 0 };
  return { publicUrl: `https://${acme.name}`, https };
}

/** The serial number of the certificate that a client of this authority gets; the error's code if it gets none. */
export async function serialAt(secureUrl: string, ca: string, servername = acmeName): Promise<string> {
  const { hostname, port } = new URL(secureUrl);
  const socket = connect({ host: hostname, port: Number(port), servername, ca });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerCertificate().serialNumber;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  } finally {
    socket.destroy();
  }
}

/** A serial number, and no error's code. */
export const issued = /^[0-9A-F]+$/;
