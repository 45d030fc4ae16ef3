// Runs at each periodic inform and reads how the device is. What a device does not have is not read.
const now = Date.now();

for (const root of ["Device", "InternetGatewayDevice"]) {
  for (const name of ["UpTime", "SoftwareVersion", "MemoryStatus.Free", "ProcessStatus.CPUUsage"]) {
    declare(root + ".DeviceInfo." + name, {value: now});
  }
}
declare("Device.IP.Interface.1.Stats.BytesSent", {value: now});
declare("Device.IP.Interface.1.Stats.BytesReceived", {value: now});
declare("Device.WiFi.AccessPoint.*.AssociatedDeviceNumberOfEntries", {value: now});
declare("InternetGatewayDevice.WANDevice.1.WANCommonInterfaceConfig.TotalBytesSent", {value: now});
declare("InternetGatewayDevice.WANDevice.1.WANCommonInterfaceConfig.TotalBytesReceived", {value: now});
declare("InternetGatewayDevice.LANDevice.1.WLANConfiguration.*.TotalAssociations", {value: now});
