// Has the device inform periodically, whoever it belongs to. How often is a setting of its own: a device that refuses
// one has the other.
for (const root of ["Device", "InternetGatewayDevice"]) {
  declare(root + ".ManagementServer.PeriodicInformEnable", {value: 1}, {value: true});
}
