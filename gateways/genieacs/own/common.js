// The names of the platform's tags as scripts have them; all others belong to whoever made them. "left" marks a login
// that may be on the device and is not its any more, "former" an organization whose tags may be on the device that it
// does not have any more.
const waiting = "Tags.lastmile_unidentified";
const organization = "Tags.org0x3A";
const subscriber = "Tags.sub0x3A";
const left = "Tags.lastmile_was0x3A";
const former = "Tags.lastmile_left0x3A";

// The name and password with which a device signs in at this server.
const signIn = /\.ManagementServer\.(Username|Password)$/;

// The dialled connections of the two data models, whatever their numbers.
const dialled = [
  "Device.PPP.Interface.*.",
  "InternetGatewayDevice.WANDevice.*.WANConnectionDevice.*.WANPPPConnection.*.",
];

// A tag has another form in scripts: every byte but letters, digits, - and _ is 0xHH, and so is the x of a 0x that the
// server would read as the beginning of one.
function tagPath(tag) {
  const signs = encodeURIComponent(tag)
    .replace(/[!'()*.~]/g, (sign) => "%" + sign.charCodeAt(0).toString(16).toUpperCase());
  return "Tags." + signs.replace(/%|0x(?=[0-9A-Z]{2})/g, (found) => found === "%" ? "0x" : "00x78");
}

// The tag that the server stores for such a path; null when it would end there, so that nothing may be declared of it.
function tagOf(path) {
  try {
    return decodeURIComponent(path.slice("Tags.".length).replace(/0x(?=[0-9A-Z]{2})/g, "%"));
  } catch (error) {
    return null;
  }
}

// The tag of a username behind a prefix, written as in the platform's tags: in those that the server does not read as it
// writes them each x is :x, and those that have such signs themselves, or a *, are written out.
function tagFor(prefix, name) {
  const username = /:x|:s|\*/.test(name) ? name.replace(/:/g, "::").replace(/\*/g, ":s") : name;
  const whole = tagPath(prefix + username);
  return tagOf(whole) === prefix + username ? whole : tagPath(prefix + username.replace(/x/g, ":x"));
}

// The mark of a username.
function markOf(username) {
  return tagFor("lastmile_was:", username);
}

// Reading of what declare gives commits all that was declared before, and may find it gone: so paths are read first.
function tagPaths() {
  return [...declare("Tags.*", {value: 1})].map((tag) => tag.path);
}

// One that the device does not send is null.
function identity(name) {
  const found = declare("DeviceID." + name, {value: 1}).value;
  return found && found[0] != null ? String(found[0]) : "";
}

// The host at which the device takes connection requests, as it tells; "" when it tells none.
function address() {
  for (const root of ["Device", "InternetGatewayDevice"]) {
    const told = declare(root + ".ManagementServer.ConnectionRequestURL", {value: 1}).value;
    const host = told && /^https?:\/\/(\[[^\]]*\]|[^/:]*)/.exec(String(told[0]));
    if (host) {
      return host[1];
    }
  }
  return "";
}

// Null when the platform is out of reach.
function ask() {
  return ext(
    "lastmile", "identify", identity("SerialNumber"), identity("OUI"), identity("ProductClass"), address(),
  );
}

// What the dialled connections that the device has say of one name, by the path of each connection. At most 64 count: a
// device has a few, and whatever calls may say that it has thousands.
function ofConnections(name, now) {
  const out = {};
  for (const found of dialled.map((at) => declare(at + name, {path: now, value: now}))) {
    let n = 0;
    for (const one of found) {
      if (n++ < 64) {
        out[one.path.slice(0, -name.length)] = one.value ? one.value[0] : null;
      }
    }
  }
  return out;
}

// The connection of one data model that a login belongs to: one that has a login of ours, or else one in use, one that
// is switched on, one with a username, the first by its number. The platform chooses alike when it writes one.
function preferred(root, usernames, facts, ours) {
  let best = "", most = "";
  for (const path of Object.keys(usernames).filter((one) => one.startsWith(root + "."))) {
    const name = usernames[path] == null ? "" : String(usernames[path]);
    const rank = [
      name !== "" && ours(name), !String(facts.kind[path]).endsWith("Bridged"), facts.status[path] === "Connected",
      String(facts.enabled[path]) === "true", name !== "",
    ].map((fact) => fact ? "1" : "0").join("");
    const order = path.replace(/[0-9]+/g, (n) => n.padStart(9, "0"));
    if (best === "" || rank > most.slice(0, 5) || rank === most.slice(0, 5) && order < most.slice(5)) {
      best = path;
      most = rank + order;
    }
  }
  return best;
}

