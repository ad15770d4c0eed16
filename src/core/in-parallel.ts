/**
 * Runs a task for each item, up to `most` at a time, and returns the results in the order of the items. Rejects with
 * the first error, without waiting for the other running tasks.
 */
export async function inParallel<T, R>(items: readonly T[], most: number, task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  let hasFailed = false;
  const worker = async () => {
    for (const [index, item] of left) {
      if (hasFailed) return;
      results[index] = await task(item);
    }
  };
  const fail = (error: unknown) => {
    hasFailed = true;
    throw error;
  };
  await Promise.all(Array.from({ length: most }, () => worker().catch(fail)));
  return results;
}
