/** The logo and the name. */
export function Brand() {
  return (
    <div className="brand">
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path
          fill="currentColor"
          d="M5 1h10a4 4 0 0 1 4 4v6a4 4 0 0 1-4 4h-5l-4.6 3.7A.9.9 0 0 1 4 18v-3.1A4 4 0 0 1 1 11V5a4 4 0 0 1 4-4Z"
        />
        <path
          d="m6.2 8.2 2.7 2.7 5-5.2"
          fill="none"
          stroke="var(--canvas)"
          strokeWidth="2"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      <span>Sayso</span>
    </div>
  );
}
