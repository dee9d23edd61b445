export function start(_: HTMLElement): void {} export function openSearch(): void {}
