// Verifies a receipt that was pasted, photographed or held up to the camera: offline, with stored keys.
import jsQR from "jsqr";
import { verifyReceipt } from "railgate/receipt";

const find = (selector) => document.querySelector(selector);
const [receipt, keys] = [find("[name=receipt]"), find("[name=keys]")];
const [picture, camera, video, verdict] = [find("[name=picture]"), find("[name=camera]"), find("video"), find(".verdict")];

function show(kind, title, content) {
  verdict.className = `verdict ${kind}`;
  verdict.replaceChildren(Object.assign(document.createElement("h2"), { textContent: title }), content);
}

const paragraph = (text) => Object.assign(document.createElement("p"), { textContent: text });

/** Shows the receipt's claims as text: nothing in them is interpreted as markup. */
function table(claims) {
  const rows = {
    Amount: `${claims.amt} ${claims.cur}`,
    To: claims.to,
    Status: claims.status.replace("_", " "),
    Reference: claims.ref,
    Settled: new Date(claims.settled_at).toLocaleString("en", { timeZone: "UTC", timeZoneName: "short" }),
    "Given back": Number(claims.rev) === 0 ? undefined : `${claims.rev} ${claims.cur}`,
    "Issued by": claims.iss,
    Settlement: claims.sub,
  };
  const list = document.createElement("dl");
  for (const [name, value] of Object.entries(rows)) {
    if (value === undefined) continue;
    const [term, said] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    said.textContent = value;
    list.append(term, said);
  }
  return list;
}

/** Only the result of the newest check is shown: an earlier check may end later. */
let looks = 0;
async function look() {
  looks += 1;
  const mine = looks;
  const [jws, jwks] = [receipt.value.trim(), keys.value.trim()];
  if (jws === "" || jwks === "") return verdict.replaceChildren();
  try {
    const claims = await verifyReceipt(jws, jwks);
    if (mine !== looks) return;
    const sandbox = claims.env === "sandbox";
    show("good", sandbox ? "Genuine, from a sandbox: it represents no real money" : "Genuine", table(claims));
  } catch (error) {
    if (mine === looks) show("bad", "Not genuine", paragraph(error.message));
  }
}

function decoded(image, width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.drawImage(image, 0, 0, width, height);
  return jsQR(context.getImageData(0, 0, width, height).data, width, height)?.data;
}

function found(text) {
  receipt.value = text;
  return look();
}

picture.addEventListener("change", async () => {
  const [file] = picture.files;
  if (file === undefined) return;
  const url = URL.createObjectURL(file);
  try {
    const image = Object.assign(new Image(), { src: url });
    await image.decode();
    const text = decoded(image, image.naturalWidth, image.naturalHeight);
    if (text === undefined) show("bad", "No QR code found", paragraph("Take the picture from straight above, with the whole code in it."));
    else await found(text);
  } catch {
    show("bad", "Not a picture", paragraph("This file cannot be shown."));
  } finally {
    URL.revokeObjectURL(url);
  }
});

/** Scans the camera's picture until there is a code or the button is pressed again. */
let stream;
function stop() {
  for (const track of stream?.getTracks() ?? []) track.stop();
  stream = undefined;
  video.hidden = true;
  camera.textContent = "Scan with the camera";
}

function scan() {
  if (stream === undefined) return;
  const text = video.videoWidth > 0 ? decoded(video, video.videoWidth, video.videoHeight) : undefined;
  if (text === undefined) return video.requestVideoFrameCallback(scan);
  stop();
  void found(text);
}

camera.addEventListener("click", async () => {
  if (stream !== undefined) return stop();
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch (error) {
    return show("bad", "No camera", paragraph(error.message));
  }
  video.srcObject = stream;
  video.hidden = false;
  camera.textContent = "Stop";
  await video.play();
  scan();
});

receipt.addEventListener("input", look);
keys.addEventListener("input", look);
