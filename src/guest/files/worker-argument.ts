/** Makes the guest's program a worker for files. */
export const workerArgument = "file-worker";
