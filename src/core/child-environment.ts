/**
 * The environment of every program that the service starts: what programs need to run, and nothing of the service's
 * own, which holds keys. `PATH` alone comes from the service.
 */
export const childEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C.UTF-8",
};
