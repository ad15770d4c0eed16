export const workerArgument = "file-worker";
