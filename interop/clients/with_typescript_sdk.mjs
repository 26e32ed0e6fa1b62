// The TypeScript SDK: it checks every message against its own schemas.
import { readFileSync, writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [jobFile, reportFile] = process.argv.slice(2);
const reports = [];
for (const { command, args, env, calls } of JSON.parse(readFileSync(jobFile, "utf8"))) {
  const client = new Client({ name: "interop", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env }));
  const { tools } = await client.listTools();
  const texts = {};
  for (const call of calls) {
    const answer = await client.callTool({ name: call.tool, arguments: call.arguments });
    texts[call.tool] = answer.content[0].text;
  }
  await client.close();
  reports.push({ loaded: tools.length, strict: 0, texts });
}
writeFileSync(reportFile, JSON.stringify(reports));
