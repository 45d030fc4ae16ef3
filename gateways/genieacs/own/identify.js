// Asks the platform who the device is, and applies the answer in the same session: tags and tasks from outside would
// come before the device exists.
const now = Date.now();

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
const [newer, older] = usernames(now);
declare("Device.PPP.Interface.*.Password", {path: now, writable: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.SSID", {path: now, value: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.KeyPassphrase", {path: now, writable: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.PreSharedKey.1.KeyPassphrase", {path: now, writable: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.PreSharedKey.1.PreSharedKey", {path: now, writable: now});
declare("InternetGatewayDevice.WANDevice.1.WANConnectionDevice.*.WANPPPConnection.*.Password", {path: now, writable: now});

const told = ask();

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

const ours = [organization, "Tags.plan0x3A", subscriber];

if (!told) {
  // The platform was out of reach: the next inform asks again.
  declare(waiting, null, {value: true});
} else {
  declare(waiting, null, {value: false});
  const wanted = (told.tags || []).map(tagPath);
  const tags = tagPaths();
  const marks = tags.filter((path) => path.startsWith(left));
  for (const path of tags) {
    if (ours.some((prefix) => path.startsWith(prefix)) && !wanted.includes(path) && tagOf(path) !== null) {
      declare(path, null, {value: false});
      if (path.startsWith(organization)) { // its own scripts may run in this session, and set tags
        declare(former + path.slice(organization.length), null, {value: true});
      }
      if (path.startsWith(subscriber)) { // the device may have this login, whatever becomes of another one
        const mark = left + path.slice(subscriber.length);
        declare(mark, null, {value: true});
        marks.push(mark);
      }
    }
  }
  for (const path of wanted) {
    declare(path, null, {value: true});
  }
  const logins = [];
  for (const [name, value, type] of told.parameters || []) {
    if (!signIn.test(name)) {
      const one = declare(nameOf(name), {value: 1}, {value: type ? [value, type] : value});
      if (name.endsWith(".Username")) {
        logins.push([one, value]);
      }
    }
  }
  if (logins.length > 0 && marks.length > 0) {
    // A device that refuses the login ends the script here, and keeps its marks.
    commit();
    if (logins.some(([one, value]) => one.value && String(one.value[0]) === String(value))) {
      for (const mark of marks.filter((path) => tagOf(path) !== null)) {
        declare(mark, null, {value: false});
      }
    }
  }
}
