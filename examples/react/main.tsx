// An inbox in a page of your own: every pending ask as a card, live, until someone decides it.
//
// 1. Allow the origin of the page in config.toml: cors_origins = ["http://localhost:5173"]
// 2. Run `npx vite examples/react` in the root of the repository.
// 3. Open http://localhost:5173/?server=http://127.0.0.1:4517#TOKEN with a token from `sayso token create NAME`.

import { AskCard, SaysoProvider, useAsks } from "@sayso/react";
import "@sayso/react/tokens.css";
import "@sayso/react/card.css";
import { Sayso } from "@sayso/sdk";
import { createRoot } from "react-dom/client";

function Inbox() {
  const { asks } = useAsks({ keep: true });
  if (asks.length === 0) return <p>You're all caught up</p>;
  return asks.map((ask) => <AskCard key={ask.id} ask={ask} />);
}

const baseUrl = new URLSearchParams(location.search).get("server") ?? "http://127.0.0.1:4517";
const token = location.hash.slice(1); // The browser does not send this part of the address to any server.

createRoot(document.body.appendChild(document.createElement("main"))).render(
  <SaysoProvider client={Sayso.connect({ baseUrl, token })}>
    <Inbox />
  </SaysoProvider>,
);
