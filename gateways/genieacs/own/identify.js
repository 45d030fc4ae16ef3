// Asks the platform who the device is, and applies the answer in the same session: tags and tasks from outside would
// come before the device exists.
const now = Date.now();
const waiting = "Tags.lastmile_unidentified";

// The platform's own names of tags; all others belong to whoever made them.
const subscriber = "Tags.sub0x3A";
const left = "Tags.lastmile_was0x3A";
const ours = ["Tags.org0x3A", "Tags.plan0x3A", subscriber, left];

// A tag has another form in scripts: every byte but letters, digits, - and _ is 0xHH.
function tagPath(tag) {
  let out = "Tags.";
  const text = encodeURIComponent(tag);
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "%") {
      out += "0x" + text.slice(i + 1, i + 3);
      i += 2;
    } else if ("!'()*.~".includes(c)) {
      out += "0x" + c.charCodeAt(0).toString(16).toUpperCase();
    } else {
      out += c;
    }
  }
  return out;
}

function identity(name) {
  const found = declare("DeviceID." + name, {value: 1});
  return found.value ? String(found.value[0]) : "";
}

// Devices inform each five minutes, whoever they belong to. What a device does not have is not declared.
for (const root of ["Device", "InternetGatewayDevice"]) {
  declare(root + ".ManagementServer.PeriodicInformEnable", {value: 1}, {value: true});
  declare(root + ".ManagementServer.PeriodicInformInterval", {value: 1}, {value: 300});
  for (const name of ["Manufacturer", "ModelName", "HardwareVersion", "SoftwareVersion", "MemoryStatus.Total"]) {
    declare(root + ".DeviceInfo." + name, {value: now});
  }
}

// The networks and connections that the device has. Of keys and passwords only that they are there: they read as empty.
declare("Device.WiFi.SSID.*.SSID", {path: now, value: now});
declare("Device.WiFi.AccessPoint.*.SSIDReference", {path: now, value: now});
declare("Device.WiFi.AccessPoint.*.Security.KeyPassphrase", {path: now, writable: now});
const newer = declare("Device.PPP.Interface.*.Username", {path: now, value: now});
declare("Device.PPP.Interface.*.Password", {path: now, writable: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.SSID", {path: now, value: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.KeyPassphrase", {path: now, writable: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.PreSharedKey.1.KeyPassphrase", {path: now, writable: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.PreSharedKey.1.PreSharedKey", {path: now, writable: now});
const older = declare("InternetGatewayDevice.WANDevice.1.WANConnectionDevice.*.WANPPPConnection.*.Username", {path: now, value: now});
declare("InternetGatewayDevice.WANDevice.1.WANConnectionDevice.*.WANPPPConnection.*.Password", {path: now, writable: now});

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

// The login of a customer who does not have the device any more leaves it; its tag names it. One that the device got
// from other hands stays. The password reads as empty: so another one is written in its place.
function forget(tag) {
  for (const found of [newer, older]) {
    const path = first(found);
    for (const one of found) {
      const name = one.path === path + "Username" && one.value ? tagPath(String(one.value[0])).slice("Tags.".length) : "";
      if (name !== "" && (tag === subscriber + name || tag === left + name)) {
        declare(path + "Enable", {value: 1}, {value: [false, "xsd:boolean"]});
        declare(path + "Username", {value: 1}, {value: ["", "xsd:string"]});
        declare(path + "Password", {value: 1}, {value: ["none", "xsd:string"]});
      }
    }
  }
}

const told = ext("lastmile", "identify", identity("SerialNumber"), identity("OUI"), identity("ProductClass"));

// The platform names the first connection of each data model; a device may have given its own another number.
const renamed = [
  ["Device.PPP.Interface.1.", first(newer)],
  ["InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.", first(older)],
];

function nameOf(name) {
  for (const [usual, own] of renamed) {
    if (own !== "" && name.startsWith(usual)) {
      return own + name.slice(usual.length);
    }
  }
  return name;
}

if (!told) {
  // The platform was out of reach: the next inform asks again.
  declare(waiting, null, {value: true});
} else {
  declare(waiting, null, {value: false});
  const wanted = (told.tags || []).map(tagPath);
  const login = wanted.some((path) => path.startsWith(subscriber));
  for (const tag of declare("Tags.*", {value: 1})) {
    if (ours.some((prefix) => tag.path.startsWith(prefix)) && !wanted.includes(tag.path)) {
      declare(tag.path, null, {value: false});
      if (!login) {
        forget(tag.path);
      }
    }
  }
  for (const path of wanted) {
    declare(path, null, {value: true});
  }
  for (const parameter of told.parameters || []) {
    if (parameter[0].endsWith(".ManagementServer.Username")) {
      commit(); // a device that refuses a sign-in of its own has all that stands before it
    }
    declare(nameOf(parameter[0]), {value: 1}, {value: parameter[2] ? [parameter[1], parameter[2]] : parameter[1]});
  }
}
