// Calls one tool with an official client and prints what came of it: client.mjs WHO URL TOKEN TOOL ARGUMENTS.
const [who, url, token, tool, json] = process.argv.slice(2);
const params = { name: tool, arguments: JSON.parse(json) };
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
const info = { name: `ts-${who}`, version: '1.0.0' };
const heard = [];
// The limit that most clients have, moved on by progress.
const options = { timeout: 60_000, resetTimeoutOnProgress: true, onprogress: (progress) => heard.push(progress.progress) };

let client, transport, result;
if (who === 'sdk') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    client = new Client(info);
    transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
    await client.connect(transport);
    result = await client.callTool(params, undefined, options);
} else {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    client = new Client(info, { versionNegotiation: { mode: 'auto' } });
    transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
    await client.connect(transport);
    result = await client.callTool(params, options);
}
console.log(JSON.stringify({ result, heard, session: transport.sessionId ?? null }));
await client.close();
