import { expect, test } from "vitest";
import { statefulSetOf, volumeBytesOf, volumeMiBOf } from "./objects.ts";

const options = {
  namespace: "m",
  image: "i",
  imagePullPolicy: "Never",
  storageClass: null,
  kvmResource: null,
} as const;

test("the size of a volume is what was asked for, also as the cluster tells it", () => {
  const resources = { cpus: 2, memoryMiB: 1536, diskGiB: 10 };
  const set = statefulSetOf("machine", "m1", resources, null, options);
  expect(volumeBytesOf(set)).toBe(volumeMiBOf(resources) * 1024 ** 2);
  set.spec!.volumeClaimTemplates![0]!.spec!.resources!.requests!.storage = "17Gi";
  expect(volumeBytesOf(set)).toBe(17 * 1024 ** 3);
});
