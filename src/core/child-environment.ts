/**
 * The environment of every program that the service starts. It has none of the service's own variables, which hold
 * keys, except `PATH`.
 */
export const childEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C.UTF-8",
};
