package genieacs

import (
	"fmt"
	"slices"
)

// Root is the first part of all paths of a device: it decides which of the two models its tree has.
type Root string

// The roots.
const (
	None  Root = ""                      // the device has not told its tree yet
	TR181 Root = "Device"                // the newer model
	TR098 Root = "InternetGatewayDevice" // the older one, of many optical terminals
)

// Diagnostic has the paths of one test. Fields are "" where a test has none such. Source:
// docs/facts/genieacs.md#diagnostics.
type Diagnostic struct {
	State                string // set to Requested last, in the same task
	URL, Host            string
	Length               string // of the file that is sent, in bytes
	Repetitions, Timeout string // the time-out is in milliseconds
	Began, Ended         string // instants of the first and the last byte
	Bytes                string // in the time between them
	Good, Bad            string // answered and lost pings
	Average, Least, Most string // milliseconds
}

// Results are the paths to read when a test has ended.
func (d Diagnostic) Results() []string {
	all := []string{d.State, d.Began, d.Ended, d.Bytes, d.Good, d.Bad, d.Average, d.Least, d.Most}
	return slices.DeleteFunc(all, func(p string) bool { return p == "" })
}

// Tree has the paths of one model that do not depend on what a device has. Source:
// docs/facts/genieacs.md#parameter-paths.
type Tree struct {
	Root                           Root
	Manufacturer, Model, Firmware  string
	Hardware, UpTime               string
	MemoryTotal, MemoryFree, CPU   string // kB, kB, percent
	InformEnable, InformInterval   string
	ConnectionRequestURL           string
	BytesSent, BytesReceived       string
	DownloadTest, UploadTest, Ping Diagnostic
}

// TreeOf gives the paths of a root; those of TR-181 for None.
func TreeOf(root Root) Tree {
	if root != TR098 {
		root = TR181
	}
	at := func(rest string) string { return string(root) + "." + rest }
	t := Tree{
		Root: root, Manufacturer: at("DeviceInfo.Manufacturer"), Model: at("DeviceInfo.ModelName"),
		Firmware: at("DeviceInfo.SoftwareVersion"), Hardware: at("DeviceInfo.HardwareVersion"),
		UpTime: at("DeviceInfo.UpTime"), MemoryTotal: at("DeviceInfo.MemoryStatus.Total"),
		MemoryFree: at("DeviceInfo.MemoryStatus.Free"), CPU: at("DeviceInfo.ProcessStatus.CPUUsage"),
		InformEnable:         at("ManagementServer.PeriodicInformEnable"),
		InformInterval:       at("ManagementServer.PeriodicInformInterval"),
		ConnectionRequestURL: at("ManagementServer.ConnectionRequestURL"),
	}
	tests := "IP.Diagnostics."
	ping := "IPPing"
	t.BytesSent, t.BytesReceived = at("IP.Interface.1.Stats.BytesSent"), at("IP.Interface.1.Stats.BytesReceived")
	if root == TR098 {
		tests, ping = "", "IPPingDiagnostics"
		wan := "WANDevice.1.WANCommonInterfaceConfig.TotalBytes"
		t.BytesSent, t.BytesReceived = at(wan+"Sent"), at(wan+"Received")
	}
	t.DownloadTest = transfer(at(tests+"DownloadDiagnostics."), "DownloadURL", "TestBytesReceived", "")
	t.UploadTest = transfer(at(tests+"UploadDiagnostics."), "UploadURL", "TotalBytesSent", "TestFileLength")
	p := at(tests + ping + ".")
	t.Ping = Diagnostic{
		State: p + "DiagnosticsState", Host: p + "Host", Repetitions: p + "NumberOfRepetitions", Timeout: p + "Timeout",
		Good: p + "SuccessCount", Bad: p + "FailureCount", Average: p + "AverageResponseTime",
		Least: p + "MinimumResponseTime", Most: p + "MaximumResponseTime",
	}
	return t
}

// transfer has the paths of a test that moves a file.
func transfer(prefix, url, bytes, length string) Diagnostic {
	d := Diagnostic{
		State: prefix + "DiagnosticsState", URL: prefix + url, Began: prefix + "BOMTime", Ended: prefix + "EOMTime",
		Bytes: prefix + bytes,
	}
	if length != "" {
		d.Length = prefix + length
	}
	return d
}

// Health are the paths that tell how a device is: for lists, and for what is read at each inform.
func (t Tree) Health() []string {
	return []string{
		t.Manufacturer, t.Model, t.Firmware, t.Hardware, t.UpTime, t.MemoryTotal, t.MemoryFree, t.CPU, t.BytesSent,
		t.BytesReceived,
	}
}

// HealthOfAll has the paths of Health of both models, for lists of devices of all kinds.
func HealthOfAll() []string { return append(TreeOf(TR181).Health(), TreeOf(TR098).Health()...) }

// maxCounted is how many Wi-Fi networks of a device have their clients counted. Lists of devices name each path that
// they read, and addresses of requests are short.
const maxCounted = 12

// Clients are the paths of the numbers of clients of the Wi-Fi networks that a device of a model may have.
func (t Tree) Clients() []string {
	var paths []string
	for i := 1; i <= maxCounted; i++ {
		if t.Root == TR181 {
			paths = append(paths, fmt.Sprintf("Device.WiFi.AccessPoint.%d.AssociatedDeviceNumberOfEntries", i))
			continue
		}
		paths = append(paths,
			fmt.Sprintf("InternetGatewayDevice.LANDevice.1.WLANConfiguration.%d.TotalAssociations", i))
	}
	return paths
}
