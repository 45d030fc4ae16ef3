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

// The mark of a username, written as in the platform's tags: in those that the server does not read as it writes them each
// x is :x, and those that have such signs themselves, or a *, are written out.
function markOf(name) {
  const username = /:x|:s|\*/.test(name) ? name.replace(/:/g, "::").replace(/\*/g, ":s") : name;
  const whole = tagPath("lastmile_was:" + username);
  return tagOf(whole) === "lastmile_was:" + username ? whole : tagPath("lastmile_was:" + username.replace(/x/g, ":x"));
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

// Null when the platform is out of reach.
function ask() {
  return ext("lastmile", "identify", identity("SerialNumber"), identity("OUI"), identity("ProductClass"));
}

// The usernames of the dialled connections, by the device's data model.
function usernames(now) {
  return [
    declare("Device.PPP.Interface.*.Username", {path: now, value: now}),
    declare("InternetGatewayDevice.WANDevice.1.WANConnectionDevice.*.WANPPPConnection.*.Username", {path: now, value: now}),
  ];
}

// The first dialled connection of those that were found: the one that the platform writes to as well.
function first(found) {
  let path = "", least = "";
  for (const one of found) {
    const order = one.path.replace(/[0-9]+/g, (n) => n.padStart(9, "0"));
    if (path === "" || order < least) {
      path = one.path;
      least = order;
    }
  }
  return path.slice(0, path.lastIndexOf(".") + 1);
}

