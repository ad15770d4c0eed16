import { useEffect, useState } from "react";
import { Empty } from "../ui/Notice.tsx";

/** A picture of bytes. As an image, an SVG neither runs scripts nor loads anything. */
export function Picture({ blob, alt }: { blob: Blob; alt: string }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <Empty title="No preview">This file is not a picture. Download it to open it.</Empty>;
  if (url === null) return null;
  return (
    <img
      src={url}
      alt={alt}
      onError={() => setBroken(true)}
      className="max-h-full max-w-full justify-self-center object-contain"
    />
  );
}
