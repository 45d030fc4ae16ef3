// Reads what the device is, and which Wi-Fi networks and connections it has, whatever their numbers. Of keys and
// passwords only that they are there: they read as empty. It has its own channel: a device that fails to tell all of this
// has its login and its tags.
const now = Date.now();

for (const root of ["Device", "InternetGatewayDevice"]) {
  for (const name of ["Manufacturer", "ModelName", "HardwareVersion", "SoftwareVersion", "MemoryStatus.Total"]) {
    declare(root + ".DeviceInfo." + name, {value: now});
  }
}
declare("Device.WiFi.SSID.*.SSID", {path: now, value: now});
declare("Device.WiFi.SSID.*.Enable", {path: now, value: now});
declare("Device.WiFi.AccessPoint.*.SSIDReference", {path: now, value: now});
declare("Device.WiFi.AccessPoint.*.Security.KeyPassphrase", {path: now, writable: now});

const older = "InternetGatewayDevice.LANDevice.*.WLANConfiguration.*.";
declare(older + "SSID", {path: now, value: now});
declare(older + "Enable", {path: now, value: now});
for (const key of ["KeyPassphrase", "PreSharedKey.1.KeyPassphrase", "PreSharedKey.1.PreSharedKey"]) {
  declare(older + key, {path: now, writable: now});
}
for (const at of [
  "Device.PPP.Interface.*.", "InternetGatewayDevice.WANDevice.*.WANConnectionDevice.*.WANPPPConnection.*.",
]) {
  for (const name of ["Username", "Enable", "ConnectionStatus", "ConnectionType"]) {
    declare(at + name, {path: now, value: now});
  }
  declare(at + "Password", {path: now, writable: now});
}

// Makers mark guest networks and links between access points with parameters of their own, whose names say so.
let marks = 0;
for (const at of ["Device.WiFi.SSID.*.*", "Device.WiFi.AccessPoint.*.*", older + "*"]) {
  for (const one of declare(at, {path: now})) {
    const name = one.path.slice(one.path.lastIndexOf(".") + 1);
    if (/guest|backhaul|fronthaul/i.test(name) && !/pass|key|psk|secret/i.test(name) && marks++ < 200) {
      declare(one.path, {value: now});
    }
  }
}
