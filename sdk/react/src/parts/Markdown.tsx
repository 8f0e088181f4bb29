import { type Block, readMarkdown, type Span } from "../model/markdown";
import { Visible } from "./Visible";

/** Markdown of an agent as elements of our own. Addresses stay text. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="md">
      {readMarkdown(text).map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return (
        // Not a heading of the page: an agent's text does not structure it.
        <p className="head">
          <Spans spans={block.spans} />
        </p>
      );
    case "paragraph":
      return (
        <p>
          <Spans spans={block.spans} />
        </p>
      );
    case "code":
      return (
        <pre>
          <Visible text={block.text} />
        </pre>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index} style={item.depth > 0 ? { marginLeft: item.depth * 16 } : undefined}>
          <Spans spans={item.spans} />
        </li>
      ));
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

function Spans({ spans }: { spans: Span[] }) {
  return spans.map((span, index) => {
    const text = <Visible text={span.text} />;
    const key = `${index}${span.kind}`;
    if (span.kind === "code") return <code key={key}>{text}</code>;
    if (span.kind === "strong") return <strong key={key}>{text}</strong>;
    if (span.kind === "em") return <em key={key}>{text}</em>;
    return <span key={key}>{text}</span>;
  });
}
