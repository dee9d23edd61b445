// When a service worker has shown a notification. To ask Chromium for what is shown before that would make it drop the notification: it
// forgets each one that it has recorded and not yet shown.

const CHANNEL = "shown";

/** The code of a service worker that also tells the pages of its site when a notification is shown. */
export const watched = (worker) => `
const show = ServiceWorkerRegistration.prototype.showNotification;
ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
  await show.call(this, title, options);
  new BroadcastChannel("${CHANNEL}").postMessage(options.data);
};
${worker}`;

/** Code of a page: from now on `globalThis.shown` waits for a notification that fits, and returns all that are shown. */
export function watch(channel) {
  const told = [];
  let wake = () => {};
  new BroadcastChannel(channel).onmessage = ({ data }) => {
    told.push(data);
    wake();
  };
  globalThis.shown = async (fits) => {
    while (!told.some(fits)) await new Promise((resolve) => (wake = resolve));
    return (await navigator.serviceWorker.ready).getNotifications();
  };
}

/** Has a page watch. */
export const watchIn = (page) => page.evaluate(watch, CHANNEL);
