import type { MarkedToken, Tokens } from "marked";
import { useMemo, useState } from "react";
import { useHost } from "../host";
import { isFormatted, numberOf, readMarkdown } from "../model/markdown";
import { Visible } from "./Visible";

/**
 * Markdown of an agent, rendered as React elements: never HTML, and no clickable links. A person decides by this text, so nothing
 * is left out and no number is changed. Markup without an element is shown as source.
 */
export function Markdown({ text }: { text: string }) {
  const { t } = useHost();
  const tokens = useMemo(() => readMarkdown(text), [text]);
  const [source, setSource] = useState(false);
  if (!tokens) return <Source text={text} />;
  return (
    <div className="md">
      {source ? <Source text={text} /> : <Blocks tokens={tokens} />}
      {isFormatted(tokens) && (
        <button type="button" className="source" aria-pressed={source} onClick={() => setSource(!source)}>
          {t(source ? "markdown.rendered" : "markdown.source")}
        </button>
      )}
    </div>
  );
}

const Source = ({ text }: { text: string }) => (
  <pre>
    <Visible text={text} />
  </pre>
);

const Blocks = ({ tokens }: { tokens: MarkedToken[] }) =>
  tokens.map((token, index) => <Block key={index} token={token} />);

function Block({ token }: { token: MarkedToken }) {
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return (
        // Not a heading element: the text of an agent must not structure the page.
        <p className="head">
          <Spans tokens={token.tokens} />
        </p>
      );
    case "paragraph":
      return (
        <p>
          <Spans tokens={token.tokens} />
        </p>
      );
    case "text":
      return <Spans tokens={token.tokens ?? [token]} />;
    case "code":
      return <Source text={token.text} />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={token.tokens as MarkedToken[]} />
        </blockquote>
      );
    case "list":
      return <List list={token} />;
    case "table":
      return <Table table={token} />;
    case "hr":
      return <hr />;
    case "checkbox":
      return <Visible text={token.raw} />;
    default:
      return (
        <p>
          <Visible text={token.raw.trim()} />
        </p>
      );
  }
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index} value={list.ordered ? numberOf(item) : undefined}>
      <Blocks tokens={item.tokens as MarkedToken[]} />
    </li>
  ));
  return list.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }) {
  return (
    <table>
      <thead>
        <tr>
          {table.header.map((cell, index) => (
            <th key={index}>
              <Spans tokens={cell.tokens} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, index) => (
              <td key={index}>
                <Spans tokens={cell.tokens} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Spans = ({ tokens }: { tokens: readonly unknown[] | undefined }) =>
  ((tokens ?? []) as MarkedToken[]).map((token, index) => <Span key={index} token={token} />);

function Span({ token }: { token: MarkedToken }) {
  switch (token.type) {
    case "codespan":
      return (
        <code>
          <Visible text={token.text} />
        </code>
      );
    case "strong":
      return (
        <strong>
          <Spans tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Spans tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Spans tokens={token.tokens} />
        </del>
      );
    case "link":
      return (
        <>
          <Spans tokens={token.tokens} />
          {token.text !== token.href && <Visible text={` (${token.href})`} />}
        </>
      );
    case "br":
      return <br />;
    case "text":
      return "tokens" in token && token.tokens ? <Spans tokens={token.tokens} /> : <Visible text={token.text} />;
    case "escape":
      return <Visible text={token.text} />;
    default:
      return <Visible text={token.raw} />;
  }
}
