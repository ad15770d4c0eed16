import type { Finding } from "../contract/finding.ts";

/**
 * Whether programs without root may make user namespaces. Ubuntu's AppArmor forbids it since 23.10: bubblewrap then cannot
 * confine QEMU, and mmdebstrap cannot build the guest image. `setting`: the kernel's
 * `apparmor_restrict_unprivileged_userns`.
 */
export function namespaceFinding(setting: string, isRoot: boolean): Omit<Finding, "name"> {
  if (setting.trim() !== "1") return { ok: true, found: "not restricted by AppArmor" };
  const found = "restricted by AppArmor to root and to programs with a profile";
  if (isRoot) return { ok: true, found };
  return {
    ok: false,
    found,
    problem: "Without root, QEMU is not confined and the guest image cannot be built.",
    fix: "run the server as root, or: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
  };
}
