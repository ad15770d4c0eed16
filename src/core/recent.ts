/** Sets an entry of a map whose order is that of its last uses, and drops the oldest beyond `maximum` entries. */
export function setRecent<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, maximum: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > maximum) map.delete(map.keys().next().value!);
}
