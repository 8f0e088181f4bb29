/** Whether a host is a loopback address, which other devices cannot reach. */
export const isLoopback = (host: string): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(host);
