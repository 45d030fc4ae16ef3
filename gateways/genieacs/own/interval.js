// Has the device inform each five minutes. It has its own channel: a device that refuses the interval has all the rest.
for (const root of ["Device", "InternetGatewayDevice"]) {
  declare(root + ".ManagementServer.PeriodicInformInterval", {value: 1}, {value: 300});
}
