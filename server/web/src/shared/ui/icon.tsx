/** Icons: strokes on a 24-unit grid, drawn here so that nothing is loaded for them. Always beside a text or an accessible name. */

const PATHS = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
  settlements: "M4 7h13M14 4l3 3-3 3M20 17H7M10 14l-3 3 3 3",
  balances: "M4 8h16v11H4zM4 8l3-4h10l3 4M15 13h2",
  webhooks: "M9 8a3 3 0 1 1 4 3l-3 5M7 13a3 3 0 1 0 3 4h6M15 16a3 3 0 1 1 0 3",
  keys: "M14 10a4 4 0 1 0-3 4l2 2h2v2h2v2h3v-3l-6-6",
  users: "M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M3 20c0-3 3-5 6-5s6 2 6 5M16 5a3 3 0 0 1 0 6M17 15c2 .5 4 2 4 5",
  quality: "M3 17l5-6 4 3 5-7 4 4",
  simulator: "M6 4l12 8-12 8z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l4 4",
  close: "M6 6l12 12M18 6L6 18",
  more: "M4.4 12a.6.6 0 1 0 1.2 0a.6.6 0 1 0-1.2 0M11.4 12a.6.6 0 1 0 1.2 0a.6.6 0 1 0-1.2 0M18.4 12a.6.6 0 1 0 1.2 0a.6.6 0 1 0-1.2 0",
  menu: "M4 7h16M4 12h16M4 17h16",
  next: "M9 5l7 7-7 7",
  previous: "M15 5l-7 7 7 7",
  copy: "M9 9h10v11H9zM5 15V4h10",
  check: "M5 12l5 5 9-10",
  warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
  plus: "M12 5v14M5 12h14",
  out: "M14 5h5v5M19 5l-9 9M10 6H5v13h13v-5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4 21c0-4 4-6 8-6s8 2 8 6",
  refresh: "M20 11a8 8 0 1 0-2 6M20 5v6h-6",
  keyboard: "M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8",
  shield: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4l3 2",
  server: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  route: "M6 18a2 2 0 1 0 0-.01M18 6a2 2 0 1 0 0-.01M8 18h6a3 3 0 0 0 0-6h-4a3 3 0 0 1 0-6h6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
