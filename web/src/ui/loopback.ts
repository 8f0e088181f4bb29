/** Whether a host is the machine itself, which no other device gets to. */
export const isLoopback = (host: string): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(host);
